/* bound.h - what an iteration takes at least, on links of a given speed.
 *
 *     compute   |fc8 ... conv1|        |conv1 ... fc8|      all layers, and what is sent when the last
 *                              ^ tail ^                     backward has ended and the first forward
 *                                                           needs it: nothing can hide that
 *     network   ####################################        all bytes of the plan, and the last layer's
 *                                          ^ turn ^         forward and backward: its value is there
 *                                                           before, and no gradient is
 *
 * The longer of the two. */
#ifndef PSD_CLI_BOUND_H
#define PSD_CLI_BOUND_H

#include "comm/plan.h"

struct psd_bound {
    double compute_s, tail_s; /* together one limit, */
    double network_s, turn_s; /* and together the other */
    double bytes;             /* that a member sends in an iteration by the plan */
};

/* For a planned job of the workload's parameters; its routes stay as they are. */
psd_status psd_bound_find(struct psd_job *job, const struct psd_workload *workload,
                          const struct psd_plan_network *network, struct psd_bound *out);

/* The longer of the two, in seconds; and whether it is the network's. */
double psd_bound_seconds(const struct psd_bound *bound);
bool psd_bound_is_network(const struct psd_bound *bound);

#endif
