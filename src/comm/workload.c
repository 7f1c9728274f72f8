/* workload.c - two growing lists. */
#include "comm/workload.h"
#include "base/alloc.h"

psd_status psd_workload_create(const char *name, size_t batch, struct psd_workload **out)
{
    struct psd_workload *workload = psd_alloc_zero(1, sizeof *workload);

    if (workload)
        workload->name = psd_alloc_text("%s", name);
    if (!workload || !workload->name) {
        psd_workload_destroy(workload);
        return PSD_ENOMEM;
    }
    workload->batch = batch;
    *out = workload;
    return PSD_OK;
}

void psd_workload_destroy(struct psd_workload *workload)
{
    if (!workload)
        return;
    for (size_t i = 0; i < workload->n_layers; i++)
        psd_alloc_free(workload->layers[i].name);
    for (size_t i = 0; i < workload->n_params; i++)
        psd_alloc_free(workload->params[i].name);
    psd_alloc_free(workload->layers);
    psd_alloc_free(workload->params);
    psd_alloc_free(workload->name);
    psd_alloc_free(workload);
}

psd_status psd_workload_add_layer(struct psd_workload *workload, const char *name, double macs)
{
    struct psd_workload_layer *layers =
        psd_alloc_grow(workload->layers, workload->n_layers, sizeof *workload->layers);

    if (!layers)
        return PSD_ENOMEM;
    workload->layers = layers;
    char *copy = psd_alloc_text("%s", name);
    if (!copy)
        return PSD_ENOMEM;
    layers[workload->n_layers++] =
        (struct psd_workload_layer){.name = copy, .macs = macs, .first_param = workload->n_params};
    return PSD_OK;
}

static psd_status check_param(const struct psd_workload *workload, const char *name, size_t rows,
                              size_t cols)
{
    if (!workload->n_layers)
        return psd_fail(PSD_EINVAL, "parameter \"%.100s\" belongs to no layer", name);
    if (!rows || !cols)
        return psd_fail(PSD_EINVAL, "parameter \"%.100s\" has no values", name);
    if (rows > (PSD_WORKLOAD_VALUES - workload->values) / cols)
        return psd_fail(PSD_EINVAL, "with parameter \"%.100s\" there are more than %zu values",
                        name, PSD_WORKLOAD_VALUES);
    return PSD_OK;
}

psd_status psd_workload_add_param(struct psd_workload *workload, const char *name, size_t rows,
                                  size_t cols)
{
    PSD_TRY(check_param(workload, name, rows, cols));
    struct psd_workload_param *params =
        psd_alloc_grow(workload->params, workload->n_params, sizeof *workload->params);
    if (!params)
        return PSD_ENOMEM;
    workload->params = params;
    char *copy = psd_alloc_text("%s", name);
    if (!copy)
        return PSD_ENOMEM;
    params[workload->n_params++] =
        (struct psd_workload_param){.name = copy, .rows = rows, .cols = cols, .bias_of = -1};
    workload->layers[workload->n_layers - 1].params++;
    workload->values += rows * cols;
    return PSD_OK;
}

double psd_workload_macs(const struct psd_workload *workload)
{
    double sum = 0;

    for (size_t i = 0; i < workload->n_layers; i++)
        sum += workload->layers[i].macs;
    return sum;
}
