/* plan.h - which form and which route each parameter takes, and why.
 *
 *     hosting  even shares or whole subtrees, whichever is predicted to be faster
 *     form     from shape, S and batch alone: it belongs to the job and fixes the bits
 *     route    from bytes, bandwidth, latency, the time to rebuild and update, and what is hidden
 *              behind compute; all parameters together, for the least predicted iteration time
 *
 * The costs of each route (cost.h) go into a prediction (predict.h), which follows one node through
 * an iteration: backward makes gradients ready layer by layer, each takes its share of the links and
 * the device, and forward needs the values again. The routes are chosen by it (choice.h). The paper's
 * rule, which compares bytes one layer at a time, stands beside the choice. No thread owns a plan. */
#ifndef PSD_COMM_PLAN_H
#define PSD_COMM_PLAN_H

#include "comm/job.h"
#include "comm/workload.h"

enum { PSD_PLAN_ROUTES = PSD_ROUTE_SINGLE_OWNER + 1 };

struct psd_plan_network {
    double bandwidth; /* bytes a second of one member's link, each way */
    double latency;   /* seconds, one way */
};

/* What one route of one parameter costs the member that has most to do with it. A route that is not
 * possible has costs too, those that it would have; all are 0 where it needs factors that do not
 * exist. */
struct psd_route_cost {
    bool possible;             /* of the parameter's form, and with so many processes */
    double floats;             /* that cross the link, both ways, as in docs/comm.md */
    double up, down;           /* bytes that cross it, each way; */
    double push_up, push_down; /* of them gradients or factors, before they are combined */
    double hop_s;              /* of each hop: latency, and what the largest share takes longer
                                  than an even one would */
    double device_s;           /* rebuilding and updating beyond what one machine alone does */
    double host_s;             /* summing */
    double seconds;            /* alone on the network: the longest of these, and the hops */
    size_t memory;             /* bytes of partial sums, factors and state on one member, to
                                  compare routes by; the plan's total is counted in full */
};

struct psd_plan_param {
    struct psd_route_cost cost[PSD_PLAN_ROUTES];
    enum psd_route choice;
    enum psd_route paper; /* what the paper's rule would take */
    const char *reason;   /* static; a few words */
};

struct psd_plan {
    struct psd_plan_param *params; /* owned; [job->n_params] */
    double iteration_s;            /* predicted, with the choice; 0: nothing takes time */
    double compute_s; /* forward and backward of one worker on one machine alone; 0: not known */
    double paper_s;   /* predicted with the paper's rule */
    double clip_s;    /* of iteration_s what clipping costs: norms, and the wait for all */
    double bytes;     /* up from one member in an iteration */
    size_t memory;    /* bytes of sums, factors, state and scratch on the member that has most */
    bool aligned;     /* hosting: a whole subtree at most for each member */
    unsigned inputs_even, inputs_aligned; /* sums that members send under either, all together */
    double even_s, aligned_s;             /* predicted under either; both 0: they are the same */
    const char *hosting;                  /* static: "even", "aligned" or "what members name" */
};

/* Fills in every AUTO form of the job: factored for inner-product weights where the paper's rule with
 * as many workers and servers as S says broadcast, dense otherwise and when S is 1; a bias has the
 * form of its weight. */
void psd_plan_forms(struct psd_job *job);

/* Hosts the job's workers evenly or aligned, whichever is predicted to be faster; evenly when both are
 * equally fast, and when nothing is known of compute. Forms are there; routes stay as they are.
 * Arguments and failures as below. */
psd_status psd_plan_hosting(struct psd_job *job, const struct psd_workload *workload,
                            const struct psd_plan_network *network);

/* Predicted seconds of an iteration under either hosting; both 0: they are the same. The job ends as it
 * was. Arguments and failures as below. */
psd_status psd_plan_hostings(struct psd_job *job, const struct psd_workload *workload,
                             const struct psd_plan_network *network, double *even_s,
                             double *aligned_s);

/* Fills in every AUTO route and explains all. Forms are there, and hosting is as it will be.
 * `workload` may be NULL (nothing is known of compute, and arithmetic takes no time), else its
 * parameters are the job's; a rate that is 0 takes no time either. PSD_EINVAL: a bandwidth that is
 * not above 0, a workload of another net, or a route that is not one for the parameter. The job is
 * unchanged then. */
psd_status psd_plan_create(struct psd_job *job, const struct psd_workload *workload,
                           const struct psd_plan_network *network, struct psd_plan **out);
void psd_plan_destroy(struct psd_plan *plan);

/* Bytes that the nodes of a job with forms and routes hold, at the member that has most. */
psd_status psd_plan_memory(const struct psd_job *job, size_t *out);

/* The paper's rule for an M x N parameter, batch K, P1 workers and P2 servers: broadcast? */
bool psd_plan_paper(double m, double n, double k, double p1, double p2);

/* How many times faster than one machine with one worker's batch the job computes its samples; 0:
 * nothing is known of compute. */
double psd_plan_speedup(const struct psd_job *job, const struct psd_plan *plan);

/* "servers", "row-sharded" and so on, as people write them; never NULL. */
const char *psd_plan_route_name(enum psd_route route);

/* Text for people: a line for each parameter and route, and the totals, below 100 columns; the caller
 * frees it. NULL: no memory. */
char *psd_plan_text(const struct psd_job *job, const struct psd_plan *plan);

#endif
