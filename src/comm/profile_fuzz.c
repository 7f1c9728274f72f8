/* profile_fuzz.c - any bytes as a profile: no crash, and what a workload gets of it is a time. */
#include "comm/profile.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>

static struct psd_workload *make_workload(const char *name)
{
    struct psd_workload *workload = NULL;

    if (psd_workload_create(name, 3, &workload) != PSD_OK ||
        psd_workload_add_layer(workload, "conv1", 10) != PSD_OK ||
        psd_workload_add_layer(workload, "relu1", 0) != PSD_OK)
        abort();
    return workload;
}

static void apply(const struct psd_profile *profile, const char *name)
{
    struct psd_workload *workload = make_workload(name);

    if (psd_profile_apply(profile, workload, 5) == PSD_OK) {
        for (size_t i = 0; i < workload->n_layers; i++) {
            double forward_s = workload->layers[i].forward_s;
            double backward_s = workload->layers[i].backward_s;
            if (!isfinite(forward_s) || !isfinite(backward_s) || forward_s < 0 || backward_s < 0)
                abort();
        }
        if (!(workload->rebuild_flops > 0 && workload->batch == 5))
            abort();
    }
    psd_workload_destroy(workload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_profile *profile = NULL;

    if (psd_profile_parse("fuzz.txt", (const char *)data, size, &profile) == PSD_OK) {
        for (size_t i = 0; i < profile->n_models; i++)
            apply(profile, profile->models[i].name);
    }
    psd_profile_destroy(profile);
    return 0;
}
