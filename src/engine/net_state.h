/* net_state.h - which layers of a prototxt belong to a net, and where blobs part; only for net*.c. */
#ifndef PSD_ENGINE_NET_STATE_H
#define PSD_ENGINE_NET_STATE_H

#include "proto/caffe.pb-c.h"
#include "proto/document.h"

/* Phase, level and stages of a net. */
struct psd_net_state {
    Caffe__Phase phase;
    int level;
    size_t n_stages;
    const char *const *stages; /* borrowed */
};

/* Takes out the layers whose include and exclude rules do not fit the state. */
psd_status psd_net_filter(struct psd_document *document, Caffe__NetParameter *net,
                          const struct psd_net_state *state);

/* Puts a Split layer behind every blob that several layers read, so that each reader has a gradient
 * of its own. Names are those that Caffe makes. */
psd_status psd_net_split(struct psd_document *document, Caffe__NetParameter *net);

#endif
