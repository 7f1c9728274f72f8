/* workload_job.c - one parameter of the job for each of the workload. */
#include "comm/workload_job.h"

static psd_status add(struct psd_job *job, const struct psd_workload_param *param,
                      struct psd_workload_wish wish)
{
    return psd_job_add(job, &(struct psd_comm_param){.name = param->name,
                                                     .rows = param->rows,
                                                     .cols = param->cols,
                                                     .factors = param->factors,
                                                     .bias_of = param->bias_of + 1,
                                                     .form = wish.form,
                                                     .route = wish.route});
}

psd_status psd_workload_job_create(const struct psd_workload *workload, unsigned ranks,
                                   unsigned workers, const struct psd_comm_update *update,
                                   const struct psd_workload_wish *wishes, struct psd_job **out)
{
    static const struct psd_workload_wish none = {PSD_FORM_AUTO, PSD_ROUTE_AUTO};
    struct psd_job *job = NULL;

    PSD_TRY(psd_job_create(ranks, workers, workload->batch, PSD_COMM_UPDATE, update, &job));
    for (size_t i = 0; i < workload->n_params; i++) {
        psd_status status = add(job, &workload->params[i], wishes ? wishes[i] : none);
        if (status != PSD_OK) {
            psd_job_destroy(job);
            return status;
        }
    }
    *out = job;
    return PSD_OK;
}
