/* draft.h - a plan in the making: all that is known before anything is decided for good.
 *
 *     job, workload, network --> costs --> the paper's routes --> the choice, and its score
 *
 * The job is only read, so that two hostings of it can be compared. No thread owns a draft. */
#ifndef PSD_COMM_DRAFT_H
#define PSD_COMM_DRAFT_H

#include "comm/choice.h"
#include "comm/cost.h"

struct psd_draft {
    const struct psd_job *job; /* borrowed, as the next two; outlive us */
    const struct psd_workload *workload;
    const struct psd_plan_network *network;
    struct psd_cost_basis basis;
    struct psd_plan_param *params;  /* owned, as all arrays here; costs and the paper's routes */
    enum psd_route *routes, *spare; /* [n_params]: the choice; to write on */
    size_t *leader, *open;
    struct psd_predict *predict; /* owned */
    struct psd_choice choice;
    struct psd_choice_score score; /* of the choice */
};

/* Makes the choice for every route that is AUTO. PSD_EINVAL as psd_plan_create. After a failure there
 * is nothing to give back. */
psd_status psd_draft_init(struct psd_draft *draft, const struct psd_job *job,
                          const struct psd_workload *workload,
                          const struct psd_plan_network *network);
void psd_draft_fini(struct psd_draft *draft);

/* Predicted seconds with the paper's routes. */
double psd_draft_paper(struct psd_draft *draft);

#endif
