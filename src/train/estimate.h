/* estimate.h - how long the workers of a process compute, before they have: for the plan; only for train/.
 *
 *     layers    data  conv1 [0] [1]  relu1  pool1  ip1 [0] [1]  loss
 *     seconds         '------- of conv1[0] ------' '--- of ip1[0] ---'
 *
 * Counted are multiply-adds (engine/layer.h), at the rate at which a product runs on one thread here;
 * backward takes twice as long as forward. Only rank 0 plans, and only with others: elsewhere nothing
 * is measured, and all is 0. */
#ifndef PSD_TRAIN_ESTIMATE_H
#define PSD_TRAIN_ESTIMATE_H

#include "train/ensemble.h"

/* Operations a second of all `hosted` workers of this process together; 0: nobody plans here. */
psd_status psd_estimate_flops(const struct psd_ensemble_options *options, unsigned hosted,
                              double *flops);

/* Sets the seconds of a parameter that belongs to the layers from `first` to, but without, `end`. */
void psd_estimate_seconds(const struct psd_net *net, size_t first, size_t end, double flops,
                          struct psd_comm_param *param);

#endif
