/* job_workload_test.c - layers as parameters tell of them. */
#include "base/alloc.h"
#include "comm/job_workload.h"
#include "test.h"

static const struct psd_comm_rates rates = {1e9, 2e9, 3e9};

/* Two timed layers with a bias each, of which one goes by factors; without `timed` nobody says so. */
static struct psd_job *new_job(bool timed)
{
    double second = timed ? 1 : 0;
    const struct psd_comm_param params[] = {
        {.name = "mean", .rows = 1, .cols = 3, .averaged = true},
        {.name = "conv[0]", .rows = 4, .cols = 9, .forward_s = second, .backward_s = 2 * second},
        {.name = "conv[1]", .rows = 1, .cols = 4},
        {.name = "fc[0]", .rows = 10, .cols = 20, .factors = true, .backward_s = 3 * second},
        {.name = "fc[1]", .rows = 1, .cols = 10, .bias_of = 4},
    };
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(2, 2, 8, PSD_COMM_UPDATE, NULL, &job));
    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        CHECK_OK(psd_job_add(job, &params[i]));
    return job;
}

static void a_parameter_with_seconds_begins_a_layer(void)
{
    struct psd_job *job = new_job(true);
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_job_workload_create(job, &rates, &workload));
    CHECK(workload->n_layers == 3 && workload->n_params == 5 && workload->batch == 8);
    CHECK(workload->layers[0].first_param == 0 && workload->layers[0].params == 1);
    CHECK(workload->layers[0].forward_s == 0 && workload->layers[0].backward_s == 0);
    CHECK(workload->layers[1].first_param == 1 && workload->layers[1].params == 2);
    CHECK(workload->layers[1].forward_s == 1 && workload->layers[1].backward_s == 2);
    CHECK(workload->layers[2].first_param == 3 && workload->layers[2].params == 2);
    CHECK(workload->layers[2].forward_s == 0 && workload->layers[2].backward_s == 3);
    CHECK(workload->params[3].factors && workload->params[4].bias_of == 3);
    CHECK(workload->params[1].rows == 4 && workload->params[1].cols == 9);
    CHECK(workload->rebuild_flops == 1e9 && workload->update_bytes_per_s == 2e9);
    CHECK(workload->sum_bytes_per_s == 3e9);
    psd_workload_destroy(workload);
    psd_job_destroy(job);
}

static void without_seconds_all_parameters_are_used_together(void)
{
    struct psd_job *job = new_job(false);
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_job_workload_create(job, &rates, &workload));
    CHECK(workload->n_layers == 1 && workload->layers[0].params == 5);
    psd_workload_destroy(workload);
    psd_job_destroy(job);
}

static void every_failed_allocation_is_survived(void)
{
    struct psd_job *job = new_job(true);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_workload *workload = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_job_workload_create(job, &rates, &workload);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(!workload == failed);
        psd_workload_destroy(workload);
    }
    psd_job_destroy(job);
}

int main(int argc, char **argv)
{
    RUN(a_parameter_with_seconds_begins_a_layer)
    RUN(without_seconds_all_parameters_are_used_together)
    RUN(every_failed_allocation_is_survived)
}
