/* cost.h - what each route of one parameter costs, for P ranks with K of the job's T samples each.
 *
 *     servers       gradients =====> sum a share ------> update it =====> values
 *     broadcast     factors =====> rebuild and update all
 *     row-sharded   factors =====> rebuild a share ----> update it =====> values
 *     single owner  factors =====> the owner rebuilds -> updates ======> values
 *     local         nothing travels
 *
 * Floats of an M x N parameter across one link, both ways: docs/comm.md, "Routes". Shares are
 * as even as pieces allow: a small dense parameter belongs to one server, and rows are dealt out in
 * whole tiles (math/product.h). Where ranks differ, the one with the most samples, sums or rows is
 * looked at, since all wait for it.
 *
 * One machine alone also multiplies the factors of its own samples and updates all values, as a part
 * of its layers' time. So only a product over more samples than its own costs device time here, and
 * no update does; what a rank saves is not credited. No thread owns anything here. */
#ifndef PSD_COMM_COST_H
#define PSD_COMM_COST_H

#include "comm/hosting.h"
#include "comm/plan.h"

/* What the costs of all parameters of a job depend on. */
struct psd_cost_basis {
    const struct psd_job *job; /* borrowed; outlives us */
    struct psd_hosting hosting;
    struct psd_plan_network network;
    double flops_s, sum_s; /* seconds of one operation of a product, and of one addition */
    unsigned states;       /* values that the rule keeps for each value */
    bool clips;            /* the norm of all gradients is needed before any update */
};

/* Takes the numbers from the job as it is hosted now; `workload` NULL: arithmetic takes no time. */
psd_status psd_cost_init(const struct psd_job *job, const struct psd_workload *workload,
                         const struct psd_plan_network *network, struct psd_cost_basis *out);

/* The cost of `route`, for a bias that of what it adds to its weight's. */
struct psd_route_cost psd_cost_of(const struct psd_cost_basis *basis, size_t param,
                                  enum psd_route route);

#endif
