/* rates.h - how fast this machine does what communication asks of it.
 *
 *     sum       into += from                   gradients on their way up the tree
 *     update    value, history -= gradient     the rule SGD
 *     rebuild   gradient = u^T v               from the factors of a batch
 *
 * All of it is measured on one thread, and the best of several rounds is taken, since others may use
 * the machine. */
#ifndef PSD_COMM_RATES_H
#define PSD_COMM_RATES_H

#include "base/status.h"
#include "poseidon/comm.h"

enum psd_rates_effort {
    PSD_RATES_QUICK,   /* for a start: a few milliseconds each, and 3 MB at most */
    PSD_RATES_THOROUGH /* for a profile: some tens of them, with vectors that no cache holds */
};

/* Bytes moved a second, counted as comm/workload.h does. */
psd_status psd_rates_sum(enum psd_rates_effort effort, double *bytes_per_s);
psd_status psd_rates_update(enum psd_rates_effort effort, double *bytes_per_s);

/* Operations a second, two for each multiply-add. */
psd_status psd_rates_rebuild(enum psd_rates_effort effort, double *flops);

/* Fills in those that are 0. */
psd_status psd_rates_measure(enum psd_rates_effort effort, struct psd_comm_rates *rates);

#endif
