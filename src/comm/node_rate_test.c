/* node_rate_test.c - who begins an iteration with another learning rate is named, before it does harm. */
#include "lone_node.h"

enum { WEIGHT = 2 };
enum { HALF = 0x3f000000, QUARTER = 0x3e800000 }; /* the bits of 0.5 and 0.25 */

static const struct node_param both[] = {
    {.name = "conv", .rows = 1, .cols = 3},
    {.name = "fc", .rows = 1, .cols = 3},
    {.name = "weight", .rows = 2, .cols = 2, .route = PSD_ROUTE_BROADCAST},
};

static struct node_test *three_ranks(bool updates)
{
    return node_of(&(struct node_case){
        .ranks = 3, .workers = 3, .updates = updates, .params = both, .n_params = 3});
}

static struct psd_message push(const struct node_test *test, unsigned from, uint64_t iteration,
                               uint32_t rate)
{
    struct psd_message message = node_message(test, PSD_MESSAGE_PUSH, from, FC, from, iteration);

    message.rate = rate;
    return message;
}

/* A worker's factors, which come in messages of one float. */
static void hear_factors(struct node_test *test, unsigned from, uint64_t iteration, uint32_t rate)
{
    struct psd_message message = {.kind = PSD_MESSAGE_FACTORS,
                                  .from = from,
                                  .rate = rate,
                                  .iteration = iteration,
                                  .subject = WEIGHT,
                                  .which = from,
                                  .count = 1,
                                  .length = sizeof(float)};

    for (; message.first < 4 && !test->ended; message.first++)
        node_hears(test, message, 1);
}

/* The job has ended with this sentence, which the others are told. */
static void must_end(struct node_test *test, const char *sentence)
{
    CHECK(test->ended == 1 && test->status == PSD_EPEER);
    CHECK_TEXT(sentence, test->sentence);
    node_sent(test, PSD_MESSAGE_END, 1);
    node_sent(test, PSD_MESSAGE_END, 2);
    node_is_quiet(test);
    node_free(test);
}

static void pushes_and_factors_carry_the_rate_of_their_iteration(void)
{
    struct node_test *test = three_ranks(true);

    CHECK_OK(psd_node_begin(test->node, 7, 0.5f));
    node_sync(test, CONV, 0, 1);
    CHECK(node_sent(test, PSD_MESSAGE_PUSH, 1).message.rate == HALF);
    node_sync_factors(test, WEIGHT, 0, 1, 1);
    for (size_t i = 0; i < 8; i++)
        CHECK(node_sent(test, PSD_MESSAGE_FACTORS, 1 + (unsigned)i / 4).message.rate == HALF);
    node_free(test);
}

static void another_rate_than_ours_ends_the_job(void)
{
    struct node_test *test = three_ranks(true);

    CHECK_OK(psd_node_begin(test->node, 7, 0.5f));
    node_hears(test, push(test, 1, 7, HALF), 1);
    node_hears(test, push(test, 2, 7, QUARTER), 1);
    must_end(test, "rank 2 begins iteration 7 with a rate of 0.25, and rank 0 with 0.5; give the "
                   "same rate on every rank");

    test = three_ranks(true);
    CHECK_OK(psd_node_begin(test->node, 7, 0.5f));
    hear_factors(test, 1, 7, QUARTER);
    must_end(test, "rank 1 begins iteration 7 with a rate of 0.25, and rank 0 with 0.5; give the "
                   "same rate on every rank");
}

static void so_it_does_when_others_have_begun_before_us(void)
{
    struct node_test *test = three_ranks(true);

    hear_factors(test, 2, 7, QUARTER);
    CHECK_STATUS(PSD_EPEER, psd_node_begin(test->node, 7, 0.1f));
    must_end(test, "rank 0 begins iteration 7 with a rate of 0.100000001, and rank 2 with 0.25; "
                   "give the same rate on every rank");

    test = three_ranks(true);
    hear_factors(test, 2, 7, QUARTER);
    node_hears(test, push(test, 1, 7, HALF), 1);
    must_end(test, "rank 1 begins iteration 7 with a rate of 0.5, and rank 2 with 0.25; give the "
                   "same rate on every rank");
}

static void each_iteration_has_a_rate_of_its_own(void)
{
    struct node_test *test = three_ranks(true);

    CHECK_OK(psd_node_begin(test->node, 7, 0.5f));
    node_sync(test, CONV, 0, 1);
    node_sync(test, FC, 0, 1);
    node_sync_factors(test, WEIGHT, 0, 1, 1);
    CHECK_OK(psd_node_begin(test->node, 8, 0.25f));
    node_hears(test, push(test, 1, 7, HALF), 1);
    hear_factors(test, 1, 7, HALF);
    hear_factors(test, 1, 8, QUARTER);
    CHECK(test->ended == 0);
    CHECK_NEAR(psd_node_rate(test->node, 7), 0.5, 0);
    CHECK_NEAR(psd_node_rate(test->node, 8), 0.25, 0);
    node_settle(test);
    node_hears(test, push(test, 2, 7, QUARTER), 1);
    must_end(test, "rank 2 begins iteration 7 with a rate of 0.25, and rank 0 with 0.5; give the "
                   "same rate on every rank");
}

static void sums_have_no_rate(void)
{
    struct node_test *test = three_ranks(false);

    CHECK_OK(psd_node_begin(test->node, 7, 0.5f));
    node_sync(test, CONV, 0, 1);
    CHECK(node_sent(test, PSD_MESSAGE_PUSH, 1).message.rate == 0);
    node_hears(test, push(test, 1, 7, QUARTER), 1);
    CHECK(test->ended == 0);
    node_free(test);
}

int main(int argc, char **argv)
{
    RUN(pushes_and_factors_carry_the_rate_of_their_iteration)
    RUN(another_rate_than_ours_ends_the_job)
    RUN(so_it_does_when_others_have_begun_before_us)
    RUN(each_iteration_has_a_rate_of_its_own)
    RUN(sums_have_no_rate)
}
