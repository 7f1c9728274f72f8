/* choice_test.c - the best of all combinations, and the way down to it. */
#include "base/random.h"
#include "comm/choice.h"
#include "comm/cost.h"
#include "workloads.h"

enum { MOST = 40, PARAMS = 2 * MOST }; /* layers, and their parameters */

/* A random net of inner products and others on a random cluster. */
struct lab {
    struct psd_workload *workload; /* owned */
    struct psd_job *job;           /* owned */
    struct psd_predict *predict;   /* owned */
    struct psd_plan_param params[PARAMS];
    size_t leader[PARAMS], open[PARAMS];
    enum psd_route routes[PARAMS], spare[PARAMS];
    struct psd_choice choice;
};

static double between(uint64_t seed, uint64_t index, double least, double most)
{
    return least * pow(most / least, (double)psd_random_uniform(seed, 0, index));
}

static struct psd_workload *random_workload(uint64_t seed, size_t layers)
{
    struct workload_layer layer[MOST];
    char names[MOST][24];

    for (size_t i = 0; i < layers; i++) {
        snprintf(names[i], sizeof names[i], "fc%zu", i);
        double seconds = between(seed, 8 * i, 1e-4, 1e-1);
        layer[i] = (struct workload_layer){.name = names[i],
                                           .rows = (size_t)between(seed, 8 * i + 1, 100, 20000),
                                           .cols = (size_t)between(seed, 8 * i + 2, 100, 20000),
                                           .factors = psd_random_below(seed, 1, i, 4) > 0,
                                           .forward_s = seconds / 3,
                                           .backward_s = seconds * 2 / 3};
    }
    struct psd_workload *workload = workload_of((size_t)between(seed, 1000, 8, 256), layer, layers);
    workload->rebuild_flops = between(seed, 1001, 1e11, 1e13);
    workload->sum_bytes_per_s = between(seed, 1002, 1e9, 1e11);
    return workload;
}

static void fill(struct lab *lab, const struct psd_plan_network *network)
{
    struct psd_cost_basis basis;

    CHECK_OK(psd_cost_init(lab->job, lab->workload, network, &basis));
    for (size_t i = 0; i < lab->job->n_params; i++) {
        for (enum psd_route route = PSD_ROUTE_SERVERS; route <= PSD_ROUTE_SINGLE_OWNER; route++)
            lab->params[i].cost[route] = psd_cost_of(&basis, i, route);
        bool follows = lab->job->params[i].bias_of >= 0;
        lab->leader[i] = follows ? i - 1 : i;
        lab->routes[i] = PSD_ROUTE_SERVERS;
        if (lab->job->params[i].factors)
            lab->open[lab->choice.n_open++] = i;
    }
}

static void open_lab(struct lab *lab, uint64_t seed, size_t layers)
{
    struct psd_plan_network network = {between(seed, 1003, 1e8, 5e9), 5e-5};
    unsigned ranks = 2 + (unsigned)psd_random_below(seed, 2, 0, 31);

    *lab = (struct lab){.workload = random_workload(seed, layers)};
    lab->job = workload_job(lab->workload, ranks, ranks, NULL);
    CHECK_OK(psd_predict_create(
        &(struct psd_predict_options){lab->job, lab->workload, 1, network.bandwidth},
        &lab->predict));
    lab->choice = (struct psd_choice){.predict = lab->predict,
                                      .params = lab->params,
                                      .n_params = lab->job->n_params,
                                      .leader = lab->leader,
                                      .open = lab->open,
                                      .clip_s = -1,
                                      .grain = 1e-5,
                                      .spare = lab->spare};
    fill(lab, &network);
}

static void close_lab(struct lab *lab)
{
    psd_predict_destroy(lab->predict);
    psd_job_destroy(lab->job);
    psd_workload_destroy(lab->workload);
}

static void scores_are_compared_item_by_item(void)
{
    static const struct psd_choice_score best = {
        .ticks = 5, .device_s = 1, .bytes = 7, .memory = 3};
    static const struct psd_choice_score worse[] = {
        {.ticks = 6, .device_s = 0, .bytes = 0, .memory = 0},
        {.ticks = 5, .device_s = 2, .bytes = 0, .memory = 0},
        {.ticks = 5, .device_s = 1, .bytes = 8, .memory = 0},
        {.ticks = 5, .device_s = 1, .bytes = 7, .memory = 4},
    };

    CHECK(!psd_choice_better(&best, &best));
    for (size_t i = 0; i < sizeof worse / sizeof *worse; i++) {
        CHECK(psd_choice_better(&best, &worse[i]));
        CHECK(!psd_choice_better(&worse[i], &best));
    }
}

static void a_bias_follows_its_weight(void)
{
    struct lab lab;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        open_lab(&lab, seed, 6);
        psd_choice_make(&lab.choice, lab.routes);
        for (size_t i = 0; i < lab.job->n_params; i++) {
            CHECK(lab.routes[i] == lab.routes[lab.leader[i]]);
            bool open = lab.job->params[lab.leader[i]].factors;
            CHECK(open == (lab.routes[i] != PSD_ROUTE_SERVERS));
        }
        close_lab(&lab);
    }
}

static void compare(uint64_t seed, size_t layers)
{
    struct lab lab;

    open_lab(&lab, seed, layers);
    psd_choice_exhaust(&lab.choice, lab.routes);
    struct psd_choice_score best = psd_choice_score(&lab.choice, lab.routes);
    psd_choice_descend(&lab.choice, lab.routes);
    struct psd_choice_score found = psd_choice_score(&lab.choice, lab.routes);
    if (psd_choice_better(&found, &best) || psd_choice_better(&best, &found))
        TEST_FAIL("seed %llu, %zu layers: %.9g s by descent, %.9g s at best",
                  (unsigned long long)seed, layers, found.seconds, best.seconds);
    close_lab(&lab);
}

static void descent_finds_the_best_of_all(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++)
        compare(seed, 1 + seed % 8);
}

/* Whether the combination with every open parameter on `route` is no better. */
static void check_not_better(struct lab *lab, enum psd_route route,
                             const struct psd_choice_score *ours)
{
    for (size_t i = 0; i < lab->choice.n_open; i++)
        psd_choice_set(&lab->choice, lab->open[i], route, lab->routes);
    struct psd_choice_score score = psd_choice_score(&lab->choice, lab->routes);
    CHECK(!psd_choice_better(&score, ours));
}

static void many_parameters_are_no_worse_than_all_on_one_route(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct lab lab;
        open_lab(&lab, seed, MOST);
        CHECK(lab.choice.n_open > 20);
        psd_choice_make(&lab.choice, lab.routes);
        struct psd_choice_score ours = psd_choice_score(&lab.choice, lab.routes);
        check_not_better(&lab, PSD_ROUTE_BROADCAST, &ours);
        check_not_better(&lab, PSD_ROUTE_ROW_SHARDED, &ours);
        close_lab(&lab);
    }
}

static void equally_fast_combinations_are_told_apart_by_their_work(void)
{
    struct lab lab;

    open_lab(&lab, 1, 4);
    CHECK(lab.choice.n_open > 0);
    lab.choice.grain = 1e6; /* all are equally fast */
    psd_choice_make(&lab.choice, lab.routes);
    struct psd_choice_score ours = psd_choice_score(&lab.choice, lab.routes);
    for (size_t i = 0; i < lab.choice.n_open; i++) {
        const struct psd_route_cost *cost = lab.params[lab.open[i]].cost;
        enum psd_route route = lab.routes[lab.open[i]];
        CHECK(cost[route].device_s <= cost[PSD_ROUTE_BROADCAST].device_s);
        CHECK(cost[route].device_s <= cost[PSD_ROUTE_ROW_SHARDED].device_s);
    }
    CHECK(ours.ticks == 0 && ours.seconds > 0);
    close_lab(&lab);
}

static void the_same_question_has_the_same_answer(void)
{
    struct lab a, b;

    open_lab(&a, 5, 10);
    open_lab(&b, 5, 10);
    psd_choice_descend(&a.choice, a.routes);
    psd_choice_descend(&b.choice, b.routes);
    psd_choice_descend(&b.choice, b.routes); /* wherever it begins */
    CHECK(memcmp(a.routes, b.routes, sizeof a.routes) == 0);
    close_lab(&b);
    close_lab(&a);
}

int main(int argc, char **argv)
{
    RUN(scores_are_compared_item_by_item)
    RUN(a_bias_follows_its_weight)
    RUN(descent_finds_the_best_of_all)
    RUN(many_parameters_are_no_worse_than_all_on_one_route)
    RUN(equally_fast_combinations_are_told_apart_by_their_work)
    RUN(the_same_question_has_the_same_answer)
}
