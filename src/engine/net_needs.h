/* net_needs.h - which gradients a net has to compute; only for net*.c. */
#ifndef PSD_ENGINE_NET_NEEDS_H
#define PSD_ENGINE_NET_NEEDS_H

#include "engine/net.h"

/* Sets each layer's backward_needed and propagates: a gradient is needed where something learns
 * before it and a loss comes after it, or everywhere with all_gradients, unless propagate_down or
 * force_backward say otherwise.
 * PSD_ECONFIG: a layer that has no gradient stands between. */
psd_status psd_net_find_needs(struct psd_net *net);

/* Takes memory for those gradients, and for those of all parameters of a net that trains, unless it
 * borrows these: of one on which no loss depends the gradient is 0. With all_gradients everything that
 * could have one has one. */
psd_status psd_net_take_diffs(struct psd_net *net);

#endif
