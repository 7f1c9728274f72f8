/* net_workload.h - the workload of a net of the engine.
 *
 *     net      data --- conv1 --- relu1 --- ip1 --- loss        every layer becomes one
 *     params            [0] [1]             [0] [1]             those that learn, once each
 *
 * A parameter belongs to the layer that made it, the first in forward order of those that share it,
 * where its gradient is complete. Weights of inner products have factors unless they are shared, or
 * have several rows a sample. */
#ifndef PSD_CLI_NET_WORKLOAD_H
#define PSD_CLI_NET_WORKLOAD_H

#include "cli/compute.h"
#include "comm/workload.h"

/* Takes the batch from the net's first top. The caller owns *out; the net is not needed any more. */
psd_status psd_net_workload_create(const struct psd_net *net, struct psd_workload **out);

/* The workload that a command's option --model means: a description when that is the name of one of
 * ours ("vgg19") or of a file that ends with .txt, else a net, of which a sketch is built for the
 * phase TRAIN as `options` say: it needs no database. The caller owns *out. */
psd_status psd_net_workload_read(struct psd_cli *cli, const struct psd_compute_options *options,
                                 const char *model, struct psd_workload **out);

#endif
