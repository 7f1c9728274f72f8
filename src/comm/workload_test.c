/* workload_test.c - layers and parameters, added one by one. */
#include "base/alloc.h"
#include "comm/workload.h"
#include "test.h"

#include <stdint.h>

/* A convolution, an inner product with its bias, and a layer that learns nothing. */
static psd_status make(struct psd_workload **out)
{
    struct psd_workload *workload = NULL;
    psd_status status = psd_workload_create("tiny", 8, &workload);

    if (status == PSD_OK)
        status = psd_workload_add_layer(workload, "conv1", 1000);
    if (status == PSD_OK)
        status = psd_workload_add_param(workload, "conv1[0]", 4, 9);
    if (status == PSD_OK)
        status = psd_workload_add_layer(workload, "fc6", 50);
    if (status == PSD_OK)
        status = psd_workload_add_param(workload, "fc6[0]", 5, 10);
    if (status == PSD_OK)
        status = psd_workload_add_param(workload, "fc6[1]", 1, 5);
    if (status == PSD_OK)
        status = psd_workload_add_layer(workload, "loss", 0);
    if (status == PSD_OK)
        *out = workload;
    else
        psd_workload_destroy(workload);
    return status;
}

static void layers_own_the_parameters_added_after_them(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(make(&workload));
    CHECK_TEXT("tiny", workload->name);
    CHECK(workload->batch == 8 && workload->n_layers == 3 && workload->n_params == 3);
    CHECK(workload->values == 36 + 50 + 5);
    CHECK(psd_workload_macs(workload) == 1050);
    CHECK(workload->layers[0].first_param == 0 && workload->layers[0].params == 1);
    CHECK(workload->layers[1].first_param == 1 && workload->layers[1].params == 2);
    CHECK(workload->layers[2].first_param == 3 && workload->layers[2].params == 0);
    psd_workload_destroy(workload);
}

static void a_parameter_has_no_factors_unless_told(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(make(&workload));
    for (size_t i = 0; i < workload->n_params; i++)
        CHECK(!workload->params[i].factors && workload->params[i].bias_of == -1);
    CHECK_TEXT("fc6[1]", workload->params[2].name);
    CHECK(workload->params[1].rows == 5 && workload->params[1].cols == 10);
    psd_workload_destroy(workload);
}

static void a_parameter_needs_a_layer_and_values(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("w", 1, &workload));
    CHECK_STATUS(PSD_EINVAL, psd_workload_add_param(workload, "a", 1, 1));
    CHECK_TEXT("parameter \"a\" belongs to no layer", psd_error());
    CHECK_OK(psd_workload_add_layer(workload, "l", 0));
    CHECK_STATUS(PSD_EINVAL, psd_workload_add_param(workload, "a", 0, 1));
    CHECK_STATUS(PSD_EINVAL, psd_workload_add_param(workload, "a", 1, 0));
    CHECK_TEXT("parameter \"a\" has no values", psd_error());
    CHECK(workload->n_params == 0 && workload->layers[0].params == 0);
    psd_workload_destroy(workload);
}

static void values_never_overflow(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("w", 1, &workload));
    CHECK_OK(psd_workload_add_layer(workload, "l", 0));
    CHECK_STATUS(PSD_EINVAL, psd_workload_add_param(workload, "a", SIZE_MAX, SIZE_MAX));
    CHECK_OK(psd_workload_add_param(workload, "a", PSD_WORKLOAD_VALUES - 2, 1));
    CHECK_STATUS(PSD_EINVAL, psd_workload_add_param(workload, "b", 1, 3));
    CHECK_TEXT("with parameter \"b\" there are more than 1099511627776 values", psd_error());
    CHECK_OK(psd_workload_add_param(workload, "b", 1, 2));
    CHECK(workload->values == PSD_WORKLOAD_VALUES);
    psd_workload_destroy(workload);
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_workload *workload = NULL;
        psd_alloc_fail_at(n);
        psd_status status = make(&workload);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_workload_destroy(workload);
    }
}

int main(int argc, char **argv)
{
    RUN(layers_own_the_parameters_added_after_them)
    RUN(a_parameter_has_no_factors_unless_told)
    RUN(a_parameter_needs_a_layer_and_values)
    RUN(values_never_overflow)
    RUN(every_failed_allocation_is_survived)
}
