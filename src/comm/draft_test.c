/* draft_test.c - questions that make no sense, and what is open in those that do. */
#include "base/alloc.h"
#include "comm/draft.h"
#include "workloads.h"

static const struct workload_layer layers[] = {
    {"conv", 64, 576, false, 0.01, 0.02},
    {"fc6", 4096, 4096, true, 0.001, 0.002},
    {"fc7", 1024, 4096, true, 0.001, 0.002},
};
enum { CONV = 0, FC6 = 2, FC6_BIAS = 3, FC7 = 4 };

static const struct psd_plan_network network = {.bandwidth = 1.25e9, .latency = 5e-5};

struct lab {
    struct psd_workload *workload; /* owned */
    struct psd_job *job;           /* owned */
};

static struct lab new_lab(unsigned ranks, unsigned workers)
{
    struct lab lab = {.workload = workload_of(32, layers, 3)};

    lab.workload->rebuild_flops = 5.5e12;
    lab.workload->sum_bytes_per_s = 1e10;
    lab.job = workload_job(lab.workload, ranks, workers, NULL);
    psd_plan_forms(lab.job);
    return lab;
}

static void close_lab(struct lab *lab)
{
    psd_job_destroy(lab->job);
    psd_workload_destroy(lab->workload);
}

static void a_network_has_bandwidth_and_no_negative_latency(void)
{
    static const struct {
        struct psd_plan_network network;
        const char *sentence;
    } cases[] = {
        {{0, 0}, "a bandwidth of 0 bytes a second: it is a finite number above 0"},
        {{-1, 0}, "a bandwidth of -1 bytes a second: it is a finite number above 0"},
        {{(double)NAN, 0}, "a bandwidth of nan bytes a second: it is a finite number above 0"},
        {{HUGE_VAL, 0}, "a bandwidth of inf bytes a second: it is a finite number above 0"},
        {{1, -0.5}, "a latency of -0.5 s: it is a finite number from 0 on"},
        {{1, HUGE_VAL}, "a latency of inf s: it is a finite number from 0 on"},
    };
    struct lab lab = new_lab(4, 4);
    struct psd_draft draft;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(PSD_EINVAL, psd_draft_init(&draft, lab.job, NULL, &cases[i].network));
        CHECK_TEXT(cases[i].sentence, psd_error());
    }
    close_lab(&lab);
}

static void the_workload_is_that_of_the_job(void)
{
    struct lab lab = new_lab(4, 4);
    struct psd_draft draft;

    lab.workload->params[FC6].rows = 5;
    CHECK_STATUS(PSD_EINVAL, psd_draft_init(&draft, lab.job, lab.workload, &network));
    CHECK_TEXT("fc6[0]: 4096 x 4096 in the job is 5 x 4096 in the workload", psd_error());
    lab.workload->n_params--;
    CHECK_STATUS(PSD_EINVAL, psd_draft_init(&draft, lab.job, lab.workload, &network));
    CHECK_TEXT("the workload has 5 parameters and the job has 6", psd_error());
    lab.workload->n_params++;
    close_lab(&lab);
}

static void a_route_is_one_of_the_parameters_form(void)
{
    static const struct {
        size_t param;
        enum psd_route route;
        const char *sentence;
    } cases[] = {
        {CONV, PSD_ROUTE_BROADCAST,
         "conv[0]: its form is dense, and its route is one for another form"},
        {FC6, PSD_ROUTE_SERVERS,
         "fc6[0]: its form is factored, and its route is one for another form"},
        {FC6, PSD_ROUTE_LOCAL, "fc6[0]: the local route is for one process, and there are 4"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = new_lab(4, 4);
        struct psd_draft draft;
        lab.job->params[cases[i].param].route = cases[i].route;
        CHECK_STATUS(PSD_EINVAL, psd_draft_init(&draft, lab.job, lab.workload, &network));
        CHECK_TEXT(cases[i].sentence, psd_error());
        close_lab(&lab);
    }
}

static void what_nobody_asked_for_is_open_if_it_is_factored(void)
{
    struct lab lab = new_lab(4, 4);
    struct psd_draft draft;

    CHECK_OK(psd_draft_init(&draft, lab.job, lab.workload, &network));
    CHECK(draft.choice.n_open == 2 && draft.open[0] == FC6 && draft.open[1] == FC7);
    CHECK(draft.routes[CONV] == PSD_ROUTE_SERVERS);
    CHECK(draft.leader[FC6_BIAS] == FC6 && draft.routes[FC6_BIAS] == draft.routes[FC6]);
    psd_draft_fini(&draft);

    lab.job->params[FC6].route = PSD_ROUTE_SINGLE_OWNER;
    CHECK_OK(psd_draft_init(&draft, lab.job, lab.workload, &network));
    CHECK(draft.choice.n_open == 1 && draft.open[0] == FC7);
    CHECK(draft.routes[FC6] == PSD_ROUTE_SINGLE_OWNER);
    CHECK(draft.routes[FC6_BIAS] == PSD_ROUTE_SINGLE_OWNER);
    psd_draft_fini(&draft);
    close_lab(&lab);
}

static void one_process_has_no_choice(void)
{
    struct lab lab = new_lab(1, 4);
    struct psd_draft draft;

    CHECK_OK(psd_draft_init(&draft, lab.job, lab.workload, &network));
    CHECK(draft.choice.n_open == 0 && draft.routes[FC6] == PSD_ROUTE_LOCAL);
    CHECK(draft.params[FC6].paper == PSD_ROUTE_LOCAL);
    psd_draft_fini(&draft);
    lab.job->params[FC6].route = PSD_ROUTE_BROADCAST; /* is as good */
    CHECK_OK(psd_draft_init(&draft, lab.job, lab.workload, &network));
    CHECK(draft.routes[FC6] == PSD_ROUTE_BROADCAST);
    psd_draft_fini(&draft);
    close_lab(&lab);
}

static void the_paper_knows_broadcast_and_servers_whatever_the_form(void)
{
    struct lab lab = new_lab(4, 4);
    struct psd_draft draft;

    lab.job->params[FC6].form = lab.job->params[FC6_BIAS].form = PSD_FORM_DENSE;
    CHECK_OK(psd_draft_init(&draft, lab.job, lab.workload, &network));
    CHECK(draft.params[CONV].paper == PSD_ROUTE_SERVERS);
    CHECK(draft.params[FC6].paper == PSD_ROUTE_BROADCAST);
    CHECK(draft.params[FC6_BIAS].paper == PSD_ROUTE_BROADCAST);
    CHECK(draft.params[FC7].paper == PSD_ROUTE_BROADCAST);
    CHECK(draft.routes[FC6] == PSD_ROUTE_SERVERS && draft.routes[FC6_BIAS] == PSD_ROUTE_SERVERS);
    CHECK(psd_draft_paper(&draft) > 0);
    psd_draft_fini(&draft);
    close_lab(&lab);
}

static void the_choice_is_never_slower_than_the_papers_rule(void)
{
    for (unsigned ranks = 2; ranks <= 32; ranks *= 2) {
        for (int i = 0; i < 9; i++) {
            double bandwidth = 1e7 * pow(3, i);
            struct lab lab = new_lab(ranks, ranks);
            struct psd_draft draft;
            CHECK_OK(psd_draft_init(&draft, lab.job, lab.workload,
                                    &(struct psd_plan_network){bandwidth, 5e-5}));
            CHECK(draft.score.seconds <= psd_draft_paper(&draft) * 1.0001);
            psd_draft_fini(&draft);
            close_lab(&lab);
        }
    }
}

static void a_workload_without_layers_is_none(void)
{
    struct psd_workload *workload = workload_of(1, NULL, 0);
    struct psd_job *job = workload_job(workload, 2, 2, NULL);
    struct psd_draft draft;

    CHECK_OK(psd_draft_init(&draft, job, workload, &network));
    CHECK(draft.score.seconds == 0);
    psd_draft_fini(&draft);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void init_survives_every_failed_allocation(void)
{
    struct lab lab = new_lab(4, 4);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_draft draft;
        psd_alloc_fail_at(n);
        psd_status status = psd_draft_init(&draft, lab.job, lab.workload, &network);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        if (status == PSD_OK)
            psd_draft_fini(&draft);
    }
    close_lab(&lab);
}

int main(int argc, char **argv)
{
    RUN(a_network_has_bandwidth_and_no_negative_latency)
    RUN(the_workload_is_that_of_the_job)
    RUN(a_route_is_one_of_the_parameters_form)
    RUN(what_nobody_asked_for_is_open_if_it_is_factored)
    RUN(one_process_has_no_choice)
    RUN(the_paper_knows_broadcast_and_servers_whatever_the_form)
    RUN(the_choice_is_never_slower_than_the_papers_rule)
    RUN(a_workload_without_layers_is_none)
    RUN(init_survives_every_failed_allocation)
}
