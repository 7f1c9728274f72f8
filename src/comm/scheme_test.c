/* scheme_test.c - what each scheme makes of convolutions, large and small inner products. */
#include "base/alloc.h"
#include "comm/scheme.h"
#include "test.h"

enum { CONV, CONV_BIAS, LARGE, LARGE_BIAS, SMALL, SMALL_BIAS, PARAMS };

static const struct psd_plan_network network = {1.25e9, 50e-6};

/* An inner product whose factors are smaller than itself, and one whose factors are larger. */
static struct psd_workload *new_workload(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("net", 32, &workload));
    CHECK_OK(psd_workload_add_layer(workload, "conv", 1e6));
    CHECK_OK(psd_workload_add_param(workload, "conv[0]", 64, 576));
    CHECK_OK(psd_workload_add_param(workload, "conv[1]", 1, 64));
    CHECK_OK(psd_workload_add_layer(workload, "large", 1e6));
    CHECK_OK(psd_workload_add_param(workload, "large[0]", 4096, 4096));
    CHECK_OK(psd_workload_add_param(workload, "large[1]", 1, 4096));
    CHECK_OK(psd_workload_add_layer(workload, "small", 1e6));
    CHECK_OK(psd_workload_add_param(workload, "small[0]", 10, 100));
    CHECK_OK(psd_workload_add_param(workload, "small[1]", 1, 10));
    for (size_t i = LARGE; i < PARAMS; i += 2) {
        workload->params[i].factors = true;
        workload->params[i + 1].bias_of = (int)i;
    }
    for (size_t i = 0; i < workload->n_layers; i++)
        workload->layers[i].forward_s = workload->layers[i].backward_s = 0.05;
    workload->rebuild_flops = 1e12;
    return workload;
}

static void schemes_route_as_their_names_say(void)
{
    static const struct {
        enum psd_scheme scheme;
        enum psd_route large, small; /* AUTO: whatever the plan takes of its form */
    } cases[] = {
        {PSD_SCHEME_SERVERS_NO_OVERLAP, PSD_ROUTE_SERVERS, PSD_ROUTE_SERVERS},
        {PSD_SCHEME_SERVERS, PSD_ROUTE_SERVERS, PSD_ROUTE_SERVERS},
        {PSD_SCHEME_HYBRID_BYTES, PSD_ROUTE_BROADCAST, PSD_ROUTE_SERVERS},
        {PSD_SCHEME_HYBRID, PSD_ROUTE_AUTO, PSD_ROUTE_SERVERS},
        {PSD_SCHEME_SINGLE_OWNER, PSD_ROUTE_SINGLE_OWNER, PSD_ROUTE_SINGLE_OWNER},
    };
    struct psd_workload *workload = new_workload();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = NULL;
        fprintf(stderr, "    %s\n", psd_scheme_names[cases[i].scheme]);
        CHECK_OK(psd_scheme_job(cases[i].scheme, workload, 8, &network, &job));
        CHECK(job->params[CONV].route == PSD_ROUTE_SERVERS);
        CHECK(job->params[CONV_BIAS].route == PSD_ROUTE_SERVERS);
        CHECK(job->params[SMALL].route == cases[i].small);
        CHECK(job->params[LARGE_BIAS].route == job->params[LARGE].route);
        CHECK(job->params[SMALL_BIAS].route == job->params[SMALL].route);
        if (cases[i].large == PSD_ROUTE_AUTO)
            CHECK(job->params[LARGE].form == PSD_FORM_FACTORED);
        else
            CHECK(job->params[LARGE].route == cases[i].large);
        psd_job_destroy(job);
    }
    psd_workload_destroy(workload);
}

static void one_node_has_a_job_by_every_scheme(void)
{
    struct psd_workload *workload = new_workload();

    for (int scheme = 0; scheme < PSD_SCHEMES; scheme++) {
        struct psd_job *job = NULL;
        CHECK_OK(psd_scheme_job((enum psd_scheme)scheme, workload, 1, &network, &job));
        for (size_t i = 0; i < PARAMS; i++)
            CHECK(job->params[i].route ==
                  (psd_job_is_factored(job, i) ? PSD_ROUTE_LOCAL : PSD_ROUTE_SERVERS));
        psd_job_destroy(job);
    }
    psd_workload_destroy(workload);
}

static void only_the_first_waits_for_the_whole_backward(void)
{
    for (int scheme = 0; scheme < PSD_SCHEMES; scheme++)
        CHECK(psd_scheme_overlaps((enum psd_scheme)scheme) == (scheme > 0));
    CHECK_TEXT("servers-no-overlap", psd_scheme_names[PSD_SCHEME_SERVERS_NO_OVERLAP]);
    CHECK_TEXT("single-owner", psd_scheme_names[PSD_SCHEME_SINGLE_OWNER]);
    CHECK(psd_scheme_names[PSD_SCHEMES] == NULL);
}

static void a_job_survives_every_failed_allocation(void)
{
    struct psd_workload *workload = new_workload();
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_job *job = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_scheme_job(PSD_SCHEME_HYBRID, workload, 4, &network, &job);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (job == NULL));
        psd_job_destroy(job);
    }
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(schemes_route_as_their_names_say)
    RUN(one_node_has_a_job_by_every_scheme)
    RUN(only_the_first_waits_for_the_whole_backward)
    RUN(a_job_survives_every_failed_allocation)
}
