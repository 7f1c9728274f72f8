/* plan_memory_test.c - the plan's memory is what the nodes of the job hold, and no less. */
#include "base/alloc.h"
#include "comm/plan.h"
#include "lone_node.h"

/* Neighbours that share a piece, one that is cut, and one of every factored route. */
static const struct node_param params[] = {
    {.name = "conv", .rows = 1, .cols = 300000},
    {.name = "scale", .rows = 1, .cols = 700},
    {.name = "shift", .rows = 1, .cols = 800},
    {.name = "fc6", .rows = 200, .cols = 30, .route = PSD_ROUTE_BROADCAST},
    {.name = "fc6.bias", .rows = 1, .cols = 200, .bias_of = 4},
    {.name = "fc7", .rows = 200, .cols = 40, .route = PSD_ROUTE_ROW_SHARDED},
    {.name = "fc7.bias", .rows = 1, .cols = 200, .bias_of = 6},
    {.name = "fc8", .rows = 40, .cols = 3, .route = PSD_ROUTE_SINGLE_OWNER},
};

static size_t memory_of(const struct psd_job *job)
{
    size_t memory = 0;

    CHECK_OK(psd_plan_memory(job, &memory));
    return memory;
}

/* The most that any rank's node holds, with all its memory. */
static size_t held(struct node_case c)
{
    size_t most = 0;

    c.most = PSD_LAYOUT_MOST;
    for (c.rank = 0; c.rank < c.ranks; c.rank++) {
        struct node_test *test = node_unstarted(&c);
        size_t memory = psd_node_memory(test->node);
        most = memory > most ? memory : most;
        node_free(test);
    }
    return most;
}

static void the_plan_counts_what_nodes_hold(void)
{
    static const struct {
        unsigned ranks, workers;
        bool updates;
        float clip;
    } cases[] = {
        {1, 1, true, 0},  {1, 3, true, 1},  {2, 2, false, 0}, {3, 3, true, 0},
        {3, 8, false, 0}, {3, 8, true, 1},  {4, 4, true, 0},  {5, 8, true, 0},
        {5, 5, true, 2},  {7, 16, true, 0}, {8, 8, true, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_case c = {.ranks = cases[i].ranks,
                              .workers = cases[i].workers,
                              .updates = cases[i].updates,
                              .update = {.momentum = 0.9f, .clip = cases[i].clip},
                              .params = params,
                              .n_params = sizeof params / sizeof *params};
        struct psd_job *job = node_job(&c);
        size_t memory = memory_of(job);
        fprintf(stderr, "    %u workers on %u ranks: %zu bytes\n", c.workers, c.ranks, memory);
        CHECK(memory == held(c) && memory > 0);
        psd_job_destroy(job);
    }
}

/* A job in sum mode with one parameter: no state. */
static size_t dense(unsigned ranks, unsigned workers, const unsigned *host, size_t count)
{
    const struct node_param one = {.name = "conv", .rows = 1, .cols = count};
    struct psd_job *job = node_job(&(struct node_case){
        .ranks = ranks, .workers = workers, .host = host, .params = &one, .n_params = 1});
    size_t memory = memory_of(job);

    psd_job_destroy(job);
    return memory;
}

/* One sum for every two that come, of the piece of 4 * count bytes that each rank owns. */
static void a_piece_keeps_half_of_its_sums_and_one_where_they_are_odd(void)
{
    const size_t count = 16384;
    static const unsigned cut[] = {0, 0, 0, 1, 1, 1, 2, 2}, chain[] = {0, 0, 0, 0, 1, 1, 2, 3};
    static const struct {
        unsigned ranks, workers;
        const unsigned *host;
        size_t sums;
    } cases[] = {
        {2, 2, NULL, 1},   {3, 3, NULL, 2},  {4, 4, NULL, 2},  {5, 5, NULL, 3}, {8, 8, NULL, 4},
        {16, 16, NULL, 8}, {4, 16, NULL, 2}, {2, 16, NULL, 1}, {3, 8, cut, 3},  {4, 8, chain, 3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %u workers on %u ranks\n", cases[i].workers, cases[i].ranks);
        CHECK(dense(cases[i].ranks, cases[i].workers, cases[i].host, count * cases[i].ranks) ==
              cases[i].sums * count * sizeof(float));
        CHECK(cases[i].sums <= (cases[i].workers + 1) / 2);
    }
}

/* Every sum of a shared piece has a place of its own, and so have what our workers give and what comes
 * back. */
static void a_shared_piece_keeps_all_its_sums(void)
{
    const size_t count = 1500;
    struct psd_job *job = node_job(
        &(struct node_case){.ranks = 4, .workers = 8, .params = &params[1], .n_params = 2});

    CHECK(memory_of(job) == (4 + 2 + 1) * count * sizeof(float));
    psd_job_destroy(job);
}

/* Four products at a time of 128 rows, u and v of all samples twice, and a state for each value. */
static void factors_come_with_the_scratch_of_their_product(void)
{
    struct node_case c = {.ranks = 4,
                          .workers = 4,
                          .updates = true,
                          .update = {.momentum = 0.9f},
                          .params = &params[3],
                          .n_params = 1};
    struct psd_job *job = node_job(&c);
    const size_t factors = (size_t)2 * 4 * (200 + 30), scratch = (size_t)4 * 128 * 30;

    CHECK(memory_of(job) == (factors + scratch + 6000) * sizeof(float));
    psd_job_destroy(job);

    c.update.clip = 1; /* rank 0 has the norm of all: a Gram matrix, its own and all numbers */
    job = node_job(&c);
    CHECK(memory_of(job) ==
          (factors + scratch + 6000) * sizeof(float) + (4 * 4 + 13 + 13) * sizeof(double));
    psd_job_destroy(job);
}

static void without_memory_there_is_no_answer(void)
{
    struct psd_job *job = node_job(&(struct node_case){.ranks = 3, .workers = 3});
    bool failed = true;

    for (long n = 0; failed; n++) {
        size_t memory = 7;
        psd_alloc_fail_at(n);
        psd_status status = psd_plan_memory(job, &memory);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (memory == 7));
    }
    psd_job_destroy(job);
}

/* Adam keeps two numbers beside each value, but none beside one that is averaged. */
static void nothing_is_kept_for_what_is_averaged(void)
{
    static const size_t counts[] = {300, 40000};

    for (size_t i = 0; i < 2; i++) {
        size_t memory[2];
        for (size_t averaged = 0; averaged < 2; averaged++) {
            const struct node_param one = {
                .name = "mean", .rows = 1, .cols = counts[i], .averaged = averaged};
            struct node_case c = {.ranks = 1,
                                  .workers = 1,
                                  .updates = true,
                                  .update = {.rule = "Adam"},
                                  .params = &one,
                                  .n_params = 1};
            struct psd_job *job = node_job(&c);
            memory[averaged] = memory_of(job);
            CHECK(memory[averaged] == held(c));
            psd_job_destroy(job);
        }
        CHECK(memory[0] == memory[1] + 2 * counts[i] * sizeof(float));
    }
}

int main(int argc, char **argv)
{
    RUN(the_plan_counts_what_nodes_hold)
    RUN(a_piece_keeps_half_of_its_sums_and_one_where_they_are_odd)
    RUN(a_shared_piece_keeps_all_its_sums)
    RUN(factors_come_with_the_scratch_of_their_product)
    RUN(without_memory_there_is_no_answer)
    RUN(nothing_is_kept_for_what_is_averaged)
}
