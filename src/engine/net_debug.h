/* net_debug.h - debug_info: how large what goes through a net is, in Caffe's words; only for net*.c.
 *
 *     [Forward] Layer conv1, top blob conv1 data: 0.0645037           means of absolute values
 *     [Backward] Layer conv1, param blob 0 diff: 0.0158512
 *     [Backward] All net params (data, diff): L1 norm = (7.2, 0.1); L2 norm = (1.3, 0.02)
 *
 * A gradient is looked at before it is given away; one that goes out as factors is never there. */
#ifndef PSD_ENGINE_NET_DEBUG_H
#define PSD_ENGINE_NET_DEBUG_H

#include "engine/net.h"

void psd_net_debug_forward(const struct psd_layer *layer);

/* After the layer's backward, before its gradients are given away. */
void psd_net_debug_backward(const struct psd_layer *layer);

/* Before the first layer's backward; when a gradient is complete; after the last layer's. */
void psd_net_debug_begin(struct psd_net *net);
void psd_net_debug_param(struct psd_net *net, const struct psd_param *param);
void psd_net_debug_end(const struct psd_net *net);

#endif
