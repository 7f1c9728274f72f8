/* rates.h - how fast this machine does what communication asks of it.
 *
 *     sum       into += from                   gradients on their way up the tree
 *     update    value, history -= gradient     the rule SGD
 *     rebuild   gradient = u^T v               from the factors of a batch
 *
 * Each measures for some tens of milliseconds, on one thread, with vectors that no cache holds, and
 * takes the best of several rounds, since others may use the machine. */
#ifndef PSD_COMM_RATES_H
#define PSD_COMM_RATES_H

#include "base/status.h"

/* Bytes moved a second, counted as comm/workload.h does. */
psd_status psd_rates_sum(double *bytes_per_s);
psd_status psd_rates_update(double *bytes_per_s);

/* Operations a second, two for each multiply-add. */
psd_status psd_rates_rebuild(double *flops);

#endif
