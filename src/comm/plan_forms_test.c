/* plan_forms_test.c - the paper's rule, and the forms that follow from it. */
#include "comm/plan.h"
#include "workloads.h"

static void the_rule_compares_bytes(void)
{
    static const struct {
        double m, n, k, p1, p2;
        bool broadcast;
    } cases[] = {
        {4096, 25088, 32, 8, 8, true},   /* fc6 of VGG: the paper's example */
        {4096, 25088, 880, 8, 8, true},  /* 8 x 880 samples are fewer than 2MN/(M+N) = 7042.6 */
        {4096, 25088, 881, 8, 8, false}, /* and these are more */
        {1000, 2048, 32, 8, 8, true},    /* the last layer of ResNet: 1343.8 */
        {1000, 2048, 32, 42, 42, false}, /* 1344 */
        {4, 4, 1, 4, 4, true},           /* equal on both sides */
        {4096, 25088, 1000, 8, 4, true}, /* fewer servers make the other side dearer */
        {4096, 25088, 1000, 8, 8, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(psd_plan_paper(cases[i].m, cases[i].n, cases[i].k, cases[i].p1, cases[i].p2) ==
              cases[i].broadcast);
}

/* The form of an inner product of 1000 x 2048 and of its bias. */
static void check_form(unsigned ranks, unsigned workers, size_t batch, enum psd_form expected)
{
    static const struct workload_layer layer = {"fc", 1000, 2048, true, 0, 0};
    struct psd_workload *workload = workload_of(batch, &layer, 1);
    struct psd_job *job = workload_job(workload, ranks, workers, NULL);

    psd_plan_forms(job);
    CHECK(job->params[0].form == expected && job->params[1].form == expected);
    CHECK(job->params[0].route == PSD_ROUTE_AUTO && job->params[1].route == PSD_ROUTE_AUTO);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void a_form_follows_from_shape_workers_and_batch_alone(void)
{
    for (unsigned ranks = 1; ranks <= 50; ranks += 7) {
        check_form(ranks, 1, 32, PSD_FORM_DENSE);
        check_form(ranks, 2, 32, PSD_FORM_FACTORED);
        check_form(ranks, 41, 32, PSD_FORM_FACTORED);
        check_form(ranks, 42, 32, PSD_FORM_DENSE);
        check_form(ranks, 41, 33, PSD_FORM_DENSE);
    }
}

static void what_is_no_inner_product_is_dense(void)
{
    static const struct workload_layer layer = {"conv", 1000, 2048, false, 0, 0};
    struct psd_workload *workload = workload_of(1, &layer, 1);
    struct psd_job *job = workload_job(workload, 2, 2, NULL);

    psd_plan_forms(job);
    CHECK(job->params[0].form == PSD_FORM_DENSE && job->params[1].form == PSD_FORM_DENSE);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void a_form_that_was_asked_for_stays(void)
{
    static const struct workload_layer layer = {"fc", 1000, 2048, true, 0, 0};
    struct psd_workload *workload = workload_of(32, &layer, 1);
    struct psd_job *few = workload_job(workload, 2, 2, NULL);
    struct psd_job *many = workload_job(workload, 2, 42, NULL);

    few->params[0].form = PSD_FORM_DENSE;
    many->params[0].form = PSD_FORM_FACTORED;
    psd_plan_forms(few);
    psd_plan_forms(many);
    CHECK(few->params[0].form == PSD_FORM_DENSE && few->params[1].form == PSD_FORM_DENSE);
    CHECK(many->params[0].form == PSD_FORM_FACTORED && many->params[1].form == PSD_FORM_FACTORED);
    psd_job_destroy(many);
    psd_job_destroy(few);
    psd_workload_destroy(workload);
}

static void workers_may_have_different_batches(void)
{
    static const struct workload_layer layer = {"fc", 1000, 2048, true, 0, 0};
    struct psd_workload *workload = workload_of(600, &layer, 1);
    struct psd_job *job = workload_job(workload, 2, 2, NULL);

    job->batch[1] = 744; /* 1344 samples in all: one too many */
    psd_plan_forms(job);
    CHECK(job->params[0].form == PSD_FORM_DENSE);
    job->batch[1] = 743;
    job->params[0].form = PSD_FORM_AUTO;
    psd_plan_forms(job);
    CHECK(job->params[0].form == PSD_FORM_FACTORED);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(the_rule_compares_bytes)
    RUN(a_form_follows_from_shape_workers_and_batch_alone)
    RUN(what_is_no_inner_product_is_dense)
    RUN(a_form_that_was_asked_for_stays)
    RUN(workers_may_have_different_batches)
}
