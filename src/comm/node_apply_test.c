/* node_apply_test.c - what is averaged: the mean of all workers' values is the next one, and neither rule
 * nor norm has a part in it. */
#include "lone_node.h"

enum { MEAN = 1 }; /* the parameter, its piece and its part; rank 0 owns it, and rank 1 conv */

static const struct node_param params[] = {
    {.name = "conv", .rows = 1, .cols = 3},
    {.name = "mean", .rows = 1, .cols = 3, .averaged = true},
};

static struct node_test *member(unsigned rank, unsigned ranks, struct psd_comm_update update)
{
    return node_of(&(struct node_case){.rank = rank,
                                       .ranks = ranks,
                                       .workers = ranks,
                                       .updates = true,
                                       .update = update,
                                       .params = params,
                                       .n_params = 2});
}

static struct psd_message push_of(const struct node_test *test, unsigned from, uint32_t piece,
                                  uint64_t iteration)
{
    return node_message(test, PSD_MESSAGE_PUSH, from, piece, from, iteration);
}

static struct psd_message scale_of(float factor, uint64_t iteration)
{
    struct psd_message scale = {.kind = PSD_MESSAGE_SCALE, .iteration = iteration};

    memcpy(&scale.which, &factor, sizeof factor);
    return scale;
}

/* --- the mean ------------------------------------------------------------------------------------
 */

static void the_sum_is_divided_by_the_workers_under_any_rule(void)
{
    static const struct psd_comm_update updates[] = {
        {.momentum = 0.9f, .decay = 0.5f},
        {.rule = "Adam", .momentum = 0.9f, .decay = 0.5f, .l1 = true},
        {.rule = "AdaDelta", .iter_size = 5},
    };
    const float times = 14 * (1.0f / 3.0f);

    CHECK(times > 14.0f / 3.0f); /* or it would not show which of the two it is */
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        struct node_test *test = member(0, 3, updates[i]);
        for (uint64_t t = 3; t < 5; t++) { /* what was before plays no part */
            node_begin(test, t);
            node_sync(test, MEAN, 0, 5);
            node_hears(test, push_of(test, 2, MEAN, t), 7);
            node_hears(test, push_of(test, 1, MEAN, t), 2);
            node_settle(test);
            node_has(test, MEAN, 14.0f / 3.0f, (unsigned)(t - 2));
            node_sync(test, CONV, 0, 1);
            node_settle(test);
            node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, t), 0);
        }
        node_end(test);
    }
}

static void the_owner_publishes_the_mean(void)
{
    struct node_test *test = member(0, 2, (struct psd_comm_update){.decay = 1});

    node_begin(test, 0);
    node_sync(test, MEAN, 0, 3);
    node_hears(test, push_of(test, 1, MEAN, 0), 4);
    node_work(test, PSD_WORK_UPDATE);
    struct psd_send value = node_sent(test, PSD_MESSAGE_VALUE, 1);
    CHECK_NEAR(node_floats(&value)[2], 3.5, 0);
    node_end(test);
}

/* The mean and the variance share a piece, whose rule has no state. */
static void small_ones_are_averaged_in_their_piece(void)
{
    static const struct node_param small[] = {
        {.name = "mean", .rows = 1, .cols = 3, .averaged = true},
        {.name = "conv", .rows = 1, .cols = 5},
        {.name = "variance", .rows = 1, .cols = 2, .averaged = true},
    };
    struct node_test *test = node_of(&(struct node_case){.workers = 2,
                                                         .updates = true,
                                                         .update = {.rule = "Adam"},
                                                         .params = small,
                                                         .n_params = 3,
                                                         .most = 64});

    CHECK(test->layout->params[0].first_piece == 1 && test->layout->params[2].first_piece == 1);
    CHECK(!psd_shard_find(test->node, 1)->states[0] && psd_shard_find(test->node, 0)->states[0]);
    node_begin(test, 0);
    for (unsigned w = 0; w < 2; w++) {
        node_sync(test, 0, w, (float)w + 1);
        node_sync(test, 2, w, (float)w + 8);
    }
    node_is_quiet(test); /* what is small is computed at once */
    node_has(test, 0, 1.5f, 1);
    node_has(test, 2, 8.5f, 1);
    node_end(test);
}

/* --- beside clipping -----------------------------------------------------------------------------
 */

static void a_mean_waits_for_no_norm_and_is_no_part_of_it(void)
{
    struct node_test *test = member(0, 2, (struct psd_comm_update){.clip = 2.5f});
    const double theirs = 100; /* the norm is 10, and of the mean 5 */

    node_begin(test, 0);
    node_sync(test, MEAN, 0, 1000);
    node_hears(test, push_of(test, 1, MEAN, 0), 2000);
    node_work(test, PSD_WORK_UPDATE);
    node_sent(test, PSD_MESSAGE_VALUE, 1);
    node_has(test, MEAN, 1500, 1); /* and conv is not synced yet */
    node_sync(test, CONV, 0, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    node_deliver(
        test, (struct psd_message){.kind = PSD_MESSAGE_SQUARES, .from = 1, .length = sizeof theirs},
        &theirs);
    struct psd_send scale = node_sent(test, PSD_MESSAGE_SCALE, 1);
    float factor;
    memcpy(&factor, &scale.message.which, sizeof factor);
    CHECK_NEAR(factor, 0.5, 0);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 0), 0);
    node_end(test);
}

static void a_factor_that_comes_meanwhile_averages_nothing_twice(void)
{
    struct node_test *test = member(0, 2, (struct psd_comm_update){.clip = 2.5f});
    const double theirs = 100;

    node_begin(test, 0);
    node_sync(test, CONV, 0, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    node_sync(test, MEAN, 0, 1);
    node_hears(test, push_of(test, 1, MEAN, 0), 2);
    node_deliver(
        test, (struct psd_message){.kind = PSD_MESSAGE_SQUARES, .from = 1, .length = sizeof theirs},
        &theirs);
    node_sent(test, PSD_MESSAGE_SCALE, 1);
    node_work(test, PSD_WORK_UPDATE);
    node_sent(test, PSD_MESSAGE_VALUE, 1);
    node_has(test, MEAN, 1.5f, 1);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 0), 0);
    node_end(test);
}

static void a_factor_may_come_before_what_is_averaged_is_synced(void)
{
    struct node_test *test = member(1, 2, (struct psd_comm_update){.clip = 2.5f});

    node_begin(test, 0);
    node_sync(test, CONV, 1, 1);
    node_hears(test, push_of(test, 0, CONV, 0), 3);
    node_work(test, PSD_WORK_SUM);
    node_sent(test, PSD_MESSAGE_SQUARES, 0);
    node_deliver(test, scale_of(0.25f, 0), NULL);
    node_work(test, PSD_WORK_UPDATE);
    node_sent(test, PSD_MESSAGE_VALUE, 0);
    node_has(test, CONV, -0.5f, 1);
    node_sync(test, MEAN, 1, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 0);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 0, MEAN, 0, 0), 7);
    node_has(test, MEAN, 7, 1);
    node_end(test);
}

static void a_job_that_only_averages_needs_no_factor(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 1,
                                                         .updates = true,
                                                         .update = {.clip = 1},
                                                         .params = &params[MEAN],
                                                         .n_params = 1});

    for (unsigned t = 0; t < 3; t++) {
        node_begin(test, t);
        node_sync(test, 0, 0, (float)t);
        node_work(test, PSD_WORK_UPDATE);
        node_has(test, 0, (float)t, t + 1);
    }
    node_end(test);
}

static void who_waits_for_a_mean_is_not_told_of_the_norm(void)
{
    struct node_test *test = member(0, 2, (struct psd_comm_update){.clip = 1});

    node_begin(test, 4);
    node_sync(test, MEAN, 0, 1);
    node_hears(test, push_of(test, 1, MEAN, 4), 2);
    psd_node_overdue(test->node, MEAN);
    CHECK_TEXT("rank 0 waits for mean of iteration 4: everybody has synced it, and rank 0 has not "
               "yet sent its new value",
               test->warning);
    node_settle(test);
    node_end(test);
}

int main(int argc, char **argv)
{
    RUN(the_sum_is_divided_by_the_workers_under_any_rule)
    RUN(the_owner_publishes_the_mean)
    RUN(small_ones_are_averaged_in_their_piece)
    RUN(a_mean_waits_for_no_norm_and_is_no_part_of_it)
    RUN(a_factor_that_comes_meanwhile_averages_nothing_twice)
    RUN(a_factor_may_come_before_what_is_averaged_is_synced)
    RUN(a_job_that_only_averages_needs_no_factor)
    RUN(who_waits_for_a_mean_is_not_told_of_the_norm)
}
