/* net_position.h - how a position is kept and moved on; only for net*.c and layers that read ahead. */
#ifndef PSD_ENGINE_NET_POSITION_H
#define PSD_ENGINE_NET_POSITION_H

#include "engine/net.h"

/* Makes it the net's position, with its defaults filled in; layers do not hear of it. */
psd_status psd_net_place(struct psd_net *net, const struct psd_net_position *position);

/* That of the pass after it. */
void psd_net_advance(struct psd_net_position *position);

/* PSD_ECONFIG: no layer of the net takes another batch than the prototxt's. */
psd_status psd_net_check_dealt(const struct psd_net *net);

/* Whether two positions are of the same workers and shares, whatever the iteration and the turn. */
bool psd_net_same_workers(const struct psd_net_position *a, const struct psd_net_position *b);

#endif
