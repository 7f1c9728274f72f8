/* workload_file_fuzz.c - any bytes as a description: no crash, and what is accepted adds up. */
#include "comm/workload_file.h"
#include "fuzz.h"

#include <stdlib.h>

static void check_layers(const struct psd_workload *workload)
{
    size_t params = 0;

    for (size_t i = 0; i < workload->n_layers; i++) {
        const struct psd_workload_layer *layer = &workload->layers[i];
        if (layer->first_param != params || !(layer->macs >= 0))
            abort();
        params += layer->params;
    }
    if (params != workload->n_params)
        abort();
}

static void check_params(const struct psd_workload *workload)
{
    size_t values = 0;

    for (size_t i = 0; i < workload->n_params; i++) {
        const struct psd_workload_param *param = &workload->params[i];
        values += param->rows * param->cols;
        if (param->bias_of >= (int)i ||
            (param->bias_of >= 0 && workload->params[param->bias_of].rows != param->cols))
            abort();
    }
    if (values != workload->values || values > PSD_WORKLOAD_VALUES)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_workload *workload = NULL;

    if (psd_workload_file_parse("fuzz.txt", (const char *)data, size, &workload) == PSD_OK) {
        check_layers(workload);
        check_params(workload);
    }
    psd_workload_destroy(workload);
    return 0;
}
