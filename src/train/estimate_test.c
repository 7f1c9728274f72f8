/* estimate_test.c - what rank 0 tells the plan of computing. */
#include "ensembles.h"
#include "train/estimate.h"

#define IP(name, from, more)                                                           \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" from "' top: '" name "'" \
    "  inner_product_param { num_output: 4 weight_filler { type: 'xavier' } } " more " }"

/* 32 multiply-adds in each inner product. */
static const char solver[] =
    "random_seed: 1 base_lr: 0.1 lr_policy: 'fixed' iter_size: 3 net_param {"
    "layer { name: 'd' type: 'DummyData' top: 'x' top: 't' dummy_data_param {"
    "  shape { dim: 2 dim: 4 } shape { dim: 2 dim: 4 } data_filler { type: 'gaussian' } } }" IP(
        "a", "x",
        "") "layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'r' }" IP("frozen", "r",
                                                                       "param { lr_mult: 0 } param "
                                                                       "{ lr_mult: 0 }")
        IP("b", "frozen", "") "layer { name: 'l' type: 'EuclideanLoss' bottom: 'b' bottom: 't' } }";

static char plan_seen[8000];

static void keep_plan(struct member *member)
{
    member_step(member, 1);
    CHECK(member->status == PSD_OK);
    if (member->rank == 1)
        snprintf(plan_seen, sizeof plan_seen, "%s", psd_ensemble_plan(member->ensemble));
}

/* Two ranks with two workers each, of three passes: (64 + 2 * 64) * 3 operations in each layer at
 * 1 MFLOP/s a thread. */
static void rank_0_estimates_what_workers_compute(void)
{
    static const struct {
        unsigned threads, processors;
        const char *words;
    } cases[] = {
        {1, 1, "one machine alone takes 1.728 ms for its batch\n"},
        {1, 2, "one machine alone takes 0.864 ms for its batch\n"},
        {2, 8, "one machine alone takes 0.432 ms for its batch\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = {.solver = solver, .ranks = 2, .act = keep_plan};
        job.options.seat.workers = 4;
        job.options.seat.rates = (struct psd_comm_rates){1e6, 1e9, 1e9};
        job.options.threads = cases[i].threads;
        job.options.processors = cases[i].processors;
        job_run(&job);
        fprintf(stderr, "%s", plan_seen);
        CHECK(strstr(plan_seen, cases[i].words));
    }
}

static void only_who_plans_measures(void)
{
    struct psd_ensemble_options options = {.seat.ranks = 3, .seat.rates.rebuild_flops = 8};
    double flops = -1;

    CHECK_OK(psd_estimate_flops(&options, 1, &flops));
    CHECK(flops == 8);
    options.seat.rank = 2;
    CHECK_OK(psd_estimate_flops(&options, 1, &flops));
    CHECK(flops == 0);
    options.seat.rank = 0;
    options.seat.ranks = 0;
    CHECK_OK(psd_estimate_flops(&options, 1, &flops));
    CHECK(flops == 0);
    options.seat.ranks = 2;
    options.seat.rates.rebuild_flops = 0;
    CHECK_OK(psd_estimate_flops(&options, 1, &flops));
    CHECK(flops > 1e3);
}

int main(int argc, char **argv)
{
    RUN(rank_0_estimates_what_workers_compute)
    RUN(only_who_plans_measures)
}
