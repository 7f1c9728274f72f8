/* plan_test.c - routes with their reasons, totals, and the published figures. */
#include "base/alloc.h"
#include "base/random.h"
#include "comm/hosting.h"
#include "comm/plan.h"
#include "workloads.h"

static const struct psd_plan_network gbit10 = {.bandwidth = 1.25e9, .latency = 5e-5};
static const struct psd_plan_network gbit40 = {.bandwidth = 5e9, .latency = 5e-5};

enum { CONVS = 32, FC6 = CONVS, FC6_BIAS, FC7, FC7_BIAS, FC8 }; /* parameters of VGG19-22K */

struct lab {
    struct psd_workload *workload; /* owned, as all here */
    struct psd_job *job;
    struct psd_plan *plan;
};

static struct lab new_lab(struct psd_workload *workload, unsigned ranks, unsigned workers)
{
    struct lab lab = {.workload = workload, .job = workload_job(workload, ranks, workers, NULL)};

    psd_plan_forms(lab.job);
    return lab;
}

static void make_plan(struct lab *lab, const struct psd_plan_network *network)
{
    CHECK_OK(psd_plan_create(lab->job, lab->workload, network, &lab->plan));
}

static void close_lab(struct lab *lab)
{
    psd_plan_destroy(lab->plan);
    psd_job_destroy(lab->job);
    psd_workload_destroy(lab->workload);
}

static void published_nets_scale_as_published_or_better(void)
{
    static const struct {
        const char *name;
        unsigned nodes;
        const struct psd_plan_network *network;
        double least;
    } cases[] = {
        {"vgg19-22k", 8, &gbit40, 7.63},     {"vgg19-22k", 16, &gbit40, 15.03},
        {"vgg19-22k", 32, &gbit40, 31},      {"vgg19-22k", 16, &gbit10, 15.6},
        {"inception-v3", 32, &gbit40, 31.8}, {"resnet152", 32, &gbit40, 31},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = new_lab(workload_published(cases[i].name), cases[i].nodes, cases[i].nodes);
        make_plan(&lab, cases[i].network);
        double speedup = psd_plan_speedup(lab.job, lab.plan);
        fprintf(stderr, "    %s: %.2f on %u nodes\n", cases[i].name, speedup, cases[i].nodes);
        CHECK(speedup >= cases[i].least && speedup <= cases[i].nodes);
        close_lab(&lab);
    }
}

static void inner_products_of_vgg_are_factored(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 32, 32);

    for (size_t i = 0; i < lab.job->n_params; i++)
        CHECK((lab.job->params[i].form == PSD_FORM_FACTORED) == (i >= FC6));
    close_lab(&lab);
}

static void rebuilding_is_charged(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 16, 16);
    double flops = 2.0 * (4096.0 * 25088 + 4096.0 * 4096 + 21841.0 * 4096) * 32 * 15;

    for (size_t fc = FC6; fc <= FC8; fc += 2)
        lab.job->params[fc].route = PSD_ROUTE_BROADCAST;
    make_plan(&lab, &gbit10);
    CHECK_NEAR(lab.plan->iteration_s, 32 / 34.5 + flops / 5.5e12, 1e-3);
    CHECK_NEAR(lab.plan->iteration_s, lab.plan->paper_s, 1e-12); /* which is the paper's choice */
    close_lab(&lab);
}

static void routes_are_chosen_together(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 16, 16);
    unsigned broadcast = 0, rows = 0;

    make_plan(&lab, &(struct psd_plan_network){1e9, 5e-5}); /* too little for rows alone */
    for (size_t fc = FC6; fc <= FC8; fc += 2) {
        broadcast += lab.plan->params[fc].choice == PSD_ROUTE_BROADCAST;
        rows += lab.plan->params[fc].choice == PSD_ROUTE_ROW_SHARDED;
        CHECK(lab.plan->params[fc].paper == PSD_ROUTE_BROADCAST);
        CHECK_TEXT("fastest", lab.plan->params[fc].reason);
    }
    CHECK(broadcast > 0 && rows > 0 && broadcast + rows == 3);
    CHECK(lab.plan->iteration_s < lab.plan->paper_s * 0.99);
    close_lab(&lab);
}

static double between(uint64_t seed, uint64_t index, double least, double most)
{
    return least * pow(most / least, (double)psd_random_uniform(seed, 0, index));
}

enum { FCS = 4 };

/* A convolution and up to FCS inner products, drawn from the seed. */
static struct psd_workload *random_net(uint64_t seed, size_t fcs)
{
    static const char *const names[] = {"conv", "fc1", "fc2", "fc3", "fc4"};
    struct workload_layer layers[1 + FCS];

    for (size_t i = 0; i <= fcs; i++) {
        double seconds = between(seed, 8 * i, 1e-3, 1e-1);
        layers[i] = (struct workload_layer){.name = names[i],
                                            .rows = (size_t)between(seed, 8 * i + 1, 100, 20000),
                                            .cols = (size_t)between(seed, 8 * i + 2, 100, 20000),
                                            .factors = i > 0,
                                            .forward_s = seconds / 3,
                                            .backward_s = seconds * 2 / 3};
    }
    struct psd_workload *workload =
        workload_of((size_t)between(seed, 100, 8, 256), layers, fcs + 1);
    workload->rebuild_flops = between(seed, 101, 1e11, 1e13);
    workload->update_bytes_per_s = between(seed, 102, 1e10, 1e12);
    workload->sum_bytes_per_s = between(seed, 103, 1e9, 1e11);
    return workload;
}

struct outcome {
    double seconds; /* of an iteration, */
    double grain;   /* those that make no difference (draft.c), */
    bool mixed;     /* and whether there are both routes */
};

/* The plan for the seed's net. Bit i of `rows`: its i-th inner product is row-sharded, else broadcast; with
 * `is_free` the plan chooses. */
static struct outcome planned(uint64_t seed, size_t fcs, float clip, bool is_free, unsigned rows)
{
    const struct psd_plan_network network = {between(seed, 104, 1e8, 5e9), 5e-5};
    unsigned ranks = 2 + (unsigned)psd_random_below(seed, 1, 0, 31), sharded = 0;
    struct lab lab = {.workload = random_net(seed, fcs)};

    lab.job = workload_job(lab.workload, ranks, ranks, &(struct psd_comm_update){.clip = clip});
    for (size_t i = 0; i < fcs; i++) {
        lab.job->params[2 + 2 * i].form = PSD_FORM_FACTORED;
        if (!is_free)
            lab.job->params[2 + 2 * i].route =
                rows >> i & 1 ? PSD_ROUTE_ROW_SHARDED : PSD_ROUTE_BROADCAST;
    }
    psd_plan_forms(lab.job);
    make_plan(&lab, &network);
    for (size_t i = 0; i < fcs; i++)
        sharded += lab.plan->params[2 + 2 * i].choice == PSD_ROUTE_ROW_SHARDED;
    struct outcome outcome = {.seconds = lab.plan->iteration_s,
                              .grain = 1e-4 * lab.plan->paper_s,
                              .mixed = sharded > 0 && sharded < fcs};
    close_lab(&lab);
    return outcome;
}

static void no_combination_of_routes_is_faster_than_the_plan(void)
{
    unsigned mixtures = 0;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        size_t fcs = 1 + seed % FCS;
        float clip = seed / 4 % 2 ? 10 : 0;
        double least = HUGE_VAL;
        for (unsigned rows = 0; rows < 1u << fcs; rows++)
            least = fmin(least, planned(seed, fcs, clip, false, rows).seconds);
        struct outcome plan = planned(seed, fcs, clip, true, 0);
        mixtures += plan.mixed;
        if (plan.seconds < least || plan.seconds > least + plan.grain)
            TEST_FAIL("seed %llu: %zu inner products, clip %g: %.9g s planned, %.9g s at best",
                      (unsigned long long)seed, fcs, (double)clip, plan.seconds, least);
    }
    CHECK(mixtures > 10); /* or looking at them one by one would do */
}

static void the_job_gets_the_choice(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 8, 8);

    make_plan(&lab, &gbit10);
    for (size_t i = 0; i < lab.job->n_params; i++) {
        CHECK(lab.job->params[i].route == lab.plan->params[i].choice);
        CHECK(lab.plan->params[i].cost[lab.plan->params[i].choice].possible);
    }
    CHECK(lab.plan->params[FC6_BIAS].choice == lab.plan->params[FC6].choice);
    CHECK_TEXT("dense", lab.plan->params[0].reason);
    CHECK_TEXT("as its weight", lab.plan->params[FC6_BIAS].reason);
    close_lab(&lab);
}

static void what_was_asked_for_is_kept_and_the_rest_goes_by_it(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 8, 8);

    lab.job->params[FC7].route = PSD_ROUTE_SINGLE_OWNER;
    make_plan(&lab, &gbit40);
    CHECK(lab.plan->params[FC7].choice == PSD_ROUTE_SINGLE_OWNER);
    CHECK(lab.plan->params[FC7_BIAS].choice == PSD_ROUTE_SINGLE_OWNER);
    CHECK_TEXT("asked for", lab.plan->params[FC7].reason);
    CHECK(lab.plan->params[FC6].choice != PSD_ROUTE_SINGLE_OWNER);
    close_lab(&lab);
}

static void reasons_name_what_decides(void)
{
    static const struct workload_layer fc = {"fc", 4096, 4096, true, 0.1, 0.2};
    static const struct {
        double flops, bandwidth;
        const char *reason;
        enum psd_route choice;
    } cases[] = {
        {1e17, 1e13, "as fast, less work", PSD_ROUTE_ROW_SHARDED},
        {0, 1e13, "as fast, fewer bytes", PSD_ROUTE_BROADCAST},
        {0, 1e8, "fastest", PSD_ROUTE_BROADCAST},
        {1e9, 1e9, "fastest", PSD_ROUTE_ROW_SHARDED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = new_lab(workload_of(4, &fc, 1), 2, 2);
        lab.workload->rebuild_flops = cases[i].flops;
        make_plan(&lab, &(struct psd_plan_network){cases[i].bandwidth, 1e-9});
        CHECK_TEXT(cases[i].reason, lab.plan->params[0].reason);
        CHECK(lab.plan->params[0].choice == cases[i].choice);
        close_lab(&lab);
    }
}

static void one_process_sends_nothing(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 1, 4);

    make_plan(&lab, &gbit10);
    CHECK(lab.plan->bytes == 0);
    CHECK(lab.plan->params[FC6].choice == PSD_ROUTE_LOCAL);
    CHECK(lab.plan->params[0].choice == PSD_ROUTE_SERVERS);
    CHECK_TEXT("one process", lab.plan->params[FC6].reason);
    CHECK(psd_plan_speedup(lab.job, lab.plan) <= 1);
    CHECK(psd_plan_speedup(lab.job, lab.plan) > 0.9); /* it adds up four gradients */
    close_lab(&lab);
}

static void planning_again_elsewhere_never_changes_a_form(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 16, 16);
    enum psd_form forms[64] = {0};

    for (size_t i = 0; i < lab.job->n_params; i++)
        forms[i] = lab.job->params[i].form;
    for (unsigned ranks = 1; ranks <= 16; ranks += 3) {
        lab.job->ranks = ranks;
        psd_hosting_even(ranks, 16, lab.job->host);
        for (size_t i = 0; i < lab.job->n_params; i++)
            lab.job->params[i].route = PSD_ROUTE_AUTO;
        psd_plan_forms(lab.job);
        make_plan(&lab, &gbit10);
        for (size_t i = 0; i < lab.job->n_params; i++)
            CHECK(lab.job->params[i].form == forms[i]);
        psd_plan_destroy(lab.plan);
        lab.plan = NULL;
    }
    close_lab(&lab);
}

static void totals_are_those_of_the_choice(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 8, 8);
    double bytes = 0;

    make_plan(&lab, &gbit40);
    for (size_t i = 0; i < lab.job->n_params; i++) {
        const struct psd_plan_param *param = &lab.plan->params[i];
        bytes += param->cost[param->choice].up;
    }
    CHECK_NEAR(lab.plan->bytes, bytes, 1e-3);
    close_lab(&lab);
}

static void hostings_are_counted(void)
{
    struct lab even = new_lab(workload_published("vgg19-22k"), 3, 8),
               aligned = new_lab(workload_published("vgg19-22k"), 3, 8);

    psd_hosting_aligned(3, 8, aligned.job->host);
    make_plan(&even, &gbit10);
    make_plan(&aligned, &gbit10);
    CHECK(even.plan->inputs_even == 5 && even.plan->inputs_aligned == 3 && !even.plan->aligned);
    CHECK(aligned.plan->inputs_even == 5 && aligned.plan->inputs_aligned == 3);
    CHECK(aligned.plan->aligned);
    close_lab(&aligned);
    close_lab(&even);
}

static void clipping_costs_the_norms_and_the_wait_for_all_gradients(void)
{
    static const struct psd_comm_update updates[] = {{0}, {.clip = 1}};
    double seconds[2], clip_s[2];

    for (int i = 0; i < 2; i++) {
        struct lab lab = {.workload = workload_published("vgg19-22k")};
        lab.job = workload_job(lab.workload, 8, 8, &updates[i]);
        psd_plan_forms(lab.job);
        for (size_t fc = FC6; fc <= FC8; fc += 2)
            lab.job->params[fc].route = PSD_ROUTE_ROW_SHARDED;
        make_plan(&lab, &gbit10);
        seconds[i] = lab.plan->iteration_s;
        clip_s[i] = lab.plan->clip_s;
        close_lab(&lab);
    }
    CHECK(clip_s[0] == 0 && clip_s[1] > 0);
    CHECK_NEAR(seconds[1] - seconds[0], clip_s[1], 1e-9);
}

static void without_a_workload_only_traffic_counts(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 8, 8);

    CHECK_OK(psd_plan_create(lab.job, NULL, &gbit10, &lab.plan));
    CHECK(lab.plan->compute_s == 0 && psd_plan_speedup(lab.job, lab.plan) == 0);
    CHECK(lab.plan->params[FC6].choice == PSD_ROUTE_BROADCAST); /* the fewest bytes */
    CHECK_NEAR(lab.plan->iteration_s, lab.plan->bytes / gbit10.bandwidth,
               0.1 * lab.plan->iteration_s);
    close_lab(&lab);
}

/* How long that takes is printed by bench/plan.c. */
static void large_nets_and_clusters_are_planned(void)
{
    struct lab lab = new_lab(workload_published("resnet152"), 1000, 1000);

    make_plan(&lab, &gbit10);
    double speedup = psd_plan_speedup(lab.job, lab.plan);
    fprintf(stderr, "    %.1f on 1000 nodes\n", speedup);
    CHECK(speedup > 100 && speedup <= 1000);
    for (size_t i = 0; i < lab.job->n_params; i++)
        CHECK(lab.plan->params[i].choice != PSD_ROUTE_AUTO);
    close_lab(&lab);
}

static void create_survives_every_failed_allocation_and_leaves_the_job_alone(void)
{
    struct lab lab = new_lab(workload_published("vgg19-22k"), 4, 4);
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = psd_plan_create(lab.job, lab.workload, &gbit10, &lab.plan);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (lab.plan == NULL));
        CHECK(failed == (lab.job->params[FC6].route == PSD_ROUTE_AUTO));
    }
    close_lab(&lab);
}

int main(int argc, char **argv)
{
    RUN(published_nets_scale_as_published_or_better)
    RUN(inner_products_of_vgg_are_factored)
    RUN(rebuilding_is_charged)
    RUN(routes_are_chosen_together)
    RUN(no_combination_of_routes_is_faster_than_the_plan)
    RUN(the_job_gets_the_choice)
    RUN(what_was_asked_for_is_kept_and_the_rest_goes_by_it)
    RUN(reasons_name_what_decides)
    RUN(one_process_sends_nothing)
    RUN(planning_again_elsewhere_never_changes_a_form)
    RUN(totals_are_those_of_the_choice)
    RUN(hostings_are_counted)
    RUN(clipping_costs_the_norms_and_the_wait_for_all_gradients)
    RUN(without_a_workload_only_traffic_counts)
    RUN(large_nets_and_clusters_are_planned)
    RUN(create_survives_every_failed_allocation_and_leaves_the_job_alone)
}
