/* net_connect.h - which blob each bottom and top of a layer is; only for net*.c.
 *
 *     bottom: "pool1"    the newest blob of that name
 *     top: "ip1"         a new blob
 *     top: "pool1"       beside such a bottom: the same blob, in place */
#ifndef PSD_ENGINE_NET_CONNECT_H
#define PSD_ENGINE_NET_CONNECT_H

#include "base/map.h"
#include "engine/net.h"

/* A net under construction. */
struct psd_net_build {
    struct psd_net *net;
    struct psd_map blobs; /* names to places in net->blobs; of several of one name the newest */
    bool *read;           /* owned; which blobs a layer reads */
};

/* Whether a layer has as many bottoms and tops as its kind takes. */
psd_status psd_net_check_counts(const struct psd_layer *layer);

/* Finds a layer's bottoms and makes its tops. PSD_ECONFIG: a bottom that nobody makes, a top that
 * somebody else makes, or one that cannot be in place. */
psd_status psd_net_connect(struct psd_net_build *build, struct psd_layer *layer);

/* Notes how many values each output has with all samples. */
void psd_net_measure_outputs(struct psd_net *net);

#endif
