/* workload_job_test.c - parameters of a job are those of the workload, with what is wished. */
#include "base/alloc.h"
#include "comm/workload_job.h"
#include "test.h"

static struct psd_workload *new_workload(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("tiny", 8, &workload));
    CHECK_OK(psd_workload_add_layer(workload, "conv", 100));
    CHECK_OK(psd_workload_add_param(workload, "conv[0]", 4, 9));
    CHECK_OK(psd_workload_add_layer(workload, "fc", 100));
    CHECK_OK(psd_workload_add_param(workload, "fc[0]", 10, 20));
    workload->params[1].factors = true;
    CHECK_OK(psd_workload_add_param(workload, "fc[1]", 1, 10));
    workload->params[2].bias_of = 1;
    return workload;
}

static void every_node_has_a_worker_with_the_batch(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_comm_update update = {.rule = "SGD", .momentum = 0.5f, .clip = 3};
    struct psd_job *job = NULL;

    CHECK_OK(psd_workload_job_create(workload, 3, 3, &update, NULL, &job));
    CHECK(job->ranks == 3 && job->workers == 3 && job->host[2] == 2 && job->batch[2] == 8);
    CHECK(job->mode == PSD_COMM_UPDATE && job->update.clip == 3);
    CHECK(job->n_params == 3);
    CHECK_TEXT("fc[0]", job->params[1].name);
    CHECK(job->params[1].rows == 10 && job->params[1].cols == 20 && job->params[1].factors);
    CHECK(job->params[2].bias_of == 1 && job->params[0].bias_of == -1);
    for (size_t i = 0; i < 3; i++)
        CHECK(job->params[i].form == PSD_FORM_AUTO && job->params[i].route == PSD_ROUTE_AUTO);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void a_node_may_have_several_workers(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_job *job = NULL;

    CHECK_OK(psd_workload_job_create(workload, 3, 8, NULL, NULL, &job));
    CHECK(job->ranks == 3 && job->workers == 8 && job->host[7] == 2 && job->batch[7] == 8);
    CHECK(psd_job_hosted(job, 0) == 3 && psd_job_hosted(job, 2) == 2);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void wishes_are_kept(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_workload_wish wishes[3] = {{PSD_FORM_DENSE, PSD_ROUTE_AUTO},
                                          {PSD_FORM_AUTO, PSD_ROUTE_BROADCAST}};
    struct psd_job *job = NULL;

    CHECK_OK(psd_workload_job_create(workload, 2, 2, NULL, wishes, &job));
    CHECK(job->params[0].form == PSD_FORM_DENSE);
    CHECK(job->params[1].form == PSD_FORM_FACTORED);
    CHECK(job->params[1].route == PSD_ROUTE_BROADCAST);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void what_cannot_be_is_refused(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_workload_wish wishes[3] = {{PSD_FORM_AUTO, PSD_ROUTE_BROADCAST}};
    struct psd_job *job = NULL;

    CHECK_STATUS(PSD_EINVAL, psd_workload_job_create(workload, 2, 2, NULL, wishes, &job));
    CHECK_STATUS(PSD_EINVAL, psd_workload_job_create(workload, 0, 0, NULL, NULL, &job));
    CHECK(job == NULL);
    psd_workload_destroy(workload);
}

static void create_survives_every_failed_allocation(void)
{
    struct psd_workload *workload = new_workload();
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_job *job = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_workload_job_create(workload, 3, 3, NULL, NULL, &job);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (job == NULL));
        psd_job_destroy(job);
    }
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(every_node_has_a_worker_with_the_batch)
    RUN(a_node_may_have_several_workers)
    RUN(wishes_are_kept)
    RUN(what_cannot_be_is_refused)
    RUN(create_survives_every_failed_allocation)
}
