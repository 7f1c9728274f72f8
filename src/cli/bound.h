/* bound.h - what an iteration takes at least, on links of a given speed.
 *
 *     compute   |fc8 ... conv1|        |conv1 ... fc8|
 *                              ^ tail ^
 *     network   |fc8 ... conv4|#################|conv4 ... fc8|
 *
 * The device computes all layers. Between the last backward and the first forward is the tail: the
 * first layer's gradient is sent and its value comes back, which no layer hides but those below that
 * learn nothing. What the device rebuilds for others takes its time, too, at best during the tail.
 *
 * When the backward of a layer ends there is no gradient yet of it and of the layers below, and before
 * its forward can start all their values are there: their bytes of the plan travel between the two,
 * whatever else does. So for each layer that learns: its compute and that of the layers above, and the
 * bytes of it and of the layers below. The last layer has all bytes; which layer takes longest depends
 * on the net. The longer of the two is the bound. */
#ifndef PSD_CLI_BOUND_H
#define PSD_CLI_BOUND_H

#include "comm/plan.h"

struct psd_bound {
    double compute_s;        /* and */
    double tail_s, device_s; /* the larger of these: one limit */
    double network_s;        /* the other */
    double bytes; /* that a member with the largest shares sends in an iteration, by the plan */
};

/* For a planned job of the workload's parameters; its routes stay as they are. */
psd_status psd_bound_find(struct psd_job *job, const struct psd_workload *workload,
                          const struct psd_plan_network *network, struct psd_bound *out);

/* The longer of the two, in seconds; and whether it is the network's. */
double psd_bound_seconds(const struct psd_bound *bound);
bool psd_bound_is_network(const struct psd_bound *bound);

#endif
