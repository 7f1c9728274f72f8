/* predict.h - how long an iteration takes, from the costs of its parameters' routes.
 *
 *     device   fwd conv1 | fwd fc | bwd fc | bwd conv1 |    fwd conv1 ...
 *                                     '-- fc ready  '-- conv1 ready
 *     links               push fc ====|= push conv1 =|= values conv1 =|== values fc ==
 *     host                                  sum conv1 -'
 *
 * One node stands for all: what it sends, the others send too, so what it receives comes at the same
 * time. It has a link up and a link down, a host that sums and a device that computes; the links and
 * the host serve what forward needs first and let it overtake, the device takes layers and
 * rebuilding as they come. A dense parameter moves in a few parts, so that one part is summed while
 * another travels; factors are complete before they are multiplied. The answer is the time from one
 * iteration to the next once that no longer changes.
 *
 * A prediction holds the memory for its runs, which allocate nothing. One thread at a time. */
#ifndef PSD_COMM_PREDICT_H
#define PSD_COMM_PREDICT_H

#include "comm/plan.h"

struct psd_predict;

struct psd_predict_options {
    const struct psd_job *job;           /* borrowed for create */
    const struct psd_workload *workload; /* the same; NULL: compute takes no time */
    unsigned times;                      /* workers whose layers the device computes */
    double bandwidth;                    /* bytes a second of the link, each way */
};

/* The caller owns *out until destroy. */
psd_status psd_predict_create(const struct psd_predict_options *options, struct psd_predict **out);
void psd_predict_destroy(struct psd_predict *predict);

/* Seconds of an iteration in which parameter i travels by routes[i], at the cost of
 * params[i].cost[routes[i]]. `clip_s` is negative, or with clipping the seconds from the moment when
 * all gradients are combined to the one when all may be applied. */
double psd_predict_run(struct psd_predict *predict, const struct psd_plan_param *params,
                       const enum psd_route *routes, double clip_s);

#endif
