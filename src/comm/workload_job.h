/* workload_job.h - the job that a workload's parameters make.
 *
 *     workload   conv1[0] conv1[1] ... fc6[0] fc6[1]
 *     wishes        .        .         broadcast  .         form and route, or AUTO for both
 *                                |
 *     job        N ranks, S workers, forms and routes as wished: still to be planned (plan.h)
 *
 * For planning and simulating; a job that runs comes from its members (roster.h). */
#ifndef PSD_COMM_WORKLOAD_JOB_H
#define PSD_COMM_WORKLOAD_JOB_H

#include "comm/job.h"
#include "comm/workload.h"

/* What somebody asks of one parameter; AUTO, which is zero, leaves it open. */
struct psd_workload_wish {
    enum psd_form form;
    enum psd_route route;
};

/* A job of `ranks` members and `workers`, each with the workload's batch, hosted evenly, that updates as
 * `update` says. `wishes` has one for each parameter, or is NULL. The caller owns *out. PSD_EINVAL: a
 * wish cannot be. */
psd_status psd_workload_job_create(const struct psd_workload *workload, unsigned ranks,
                                   unsigned workers, const struct psd_comm_update *update,
                                   const struct psd_workload_wish *wishes, struct psd_job **out);

#endif
