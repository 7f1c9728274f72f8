/* timeline.h - iterations of a workload on a cluster: compute, sync and wait as training does.
 *
 *     forward   wait(conv1) conv1 | wait(conv2) conv2 | ... fc8
 *     backward  fc8 sync(fc8) | ... | conv1 sync(conv1)
 *
 * Every rank runs forward and backward of its hosted workers' batches on its device (times are the
 * workload's, for one worker), as far as its values are fresh. Without overlap all is synced after
 * the whole backward and awaited before the next forward. Only sizes are simulated. */
#ifndef PSD_COMM_TIMELINE_H
#define PSD_COMM_TIMELINE_H

#include "comm/cluster.h"

struct psd_timeline_options {
    const struct psd_job *job; /* planned; its parameters are the workload's */
    const struct psd_workload *workload;
    double bandwidth; /* bytes a second of each link, each way */
    double latency;   /* seconds */
    double delay;     /* seconds, at most: drawn from the seed and added for each message */
    bool no_overlap;
    unsigned iterations; /* measured, after one that warms up; 0: 3 */
    size_t most, credit;
    uint64_t seed;
};

struct psd_timeline_result {
    double iteration_s; /* mean of the measured ones, from start to start on rank 0 */
    double compute_s;   /* of one machine alone */
    double stall;       /* share of the iteration in which a device waits, mean over ranks */
    double extra;       /* share in which it rebuilds or updates beyond its own part */
    double bytes_mean, bytes_most; /* sent and received by a member in an iteration */
    uint64_t messages;             /* of an iteration, in all */
};

psd_status psd_timeline_run(const struct psd_timeline_options *options,
                            struct psd_timeline_result *out);

#endif
