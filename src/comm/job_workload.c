/* job_workload.c - a layer begins with each parameter that says how long it computes. */
#include "comm/job_workload.h"

static psd_status add(struct psd_workload *workload, const struct psd_job_param *param)
{
    bool is_timed = param->forward_s > 0 || param->backward_s > 0;

    if (is_timed || workload->n_layers == 0) {
        PSD_TRY(psd_workload_add_layer(workload, param->name, 0));
        struct psd_workload_layer *layer = &workload->layers[workload->n_layers - 1];
        layer->forward_s = param->forward_s;
        layer->backward_s = param->backward_s;
    }
    PSD_TRY(psd_workload_add_param(workload, param->name, param->rows, param->cols));
    workload->params[workload->n_params - 1].factors = param->factors;
    workload->params[workload->n_params - 1].bias_of = param->bias_of;
    return PSD_OK;
}

psd_status psd_job_workload_create(const struct psd_job *job, const struct psd_comm_rates *rates,
                                   struct psd_workload **out)
{
    struct psd_workload *workload = NULL;

    PSD_TRY(psd_workload_create("", job->batch[0], &workload));
    workload->rebuild_flops = rates->rebuild_flops;
    workload->update_bytes_per_s = rates->update_bytes_per_s;
    workload->sum_bytes_per_s = rates->sum_bytes_per_s;
    for (size_t i = 0; i < job->n_params; i++) {
        psd_status status = add(workload, &job->params[i]);
        if (status != PSD_OK) {
            psd_workload_destroy(workload);
            return status;
        }
    }
    *out = workload;
    return PSD_OK;
}
