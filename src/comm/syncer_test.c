/* syncer_test.c - what a process's own workers sync, and the values that come back. */
#include "base/random.h"
#include "lone_node.h"
#include "math/sum.h"

static struct psd_message value_of(const struct node_test *test, unsigned from, uint32_t piece,
                                   uint64_t iteration)
{
    return node_message(test, PSD_MESSAGE_VALUE, from, piece, 0, iteration);
}

static void a_gradient_goes_to_its_owner_from_where_it_is(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    node_begin(test, 9);
    node_sync(test, CONV, 0, 1);
    struct psd_send push = node_sent(test, PSD_MESSAGE_PUSH, 1);
    CHECK(push.message.from == 0 && push.message.iteration == 9);
    CHECK(push.message.subject == CONV && push.message.which == 0);
    CHECK(push.message.first == 0 && push.message.count == 1 && push.message.length == 12);
    CHECK(node_floats(&push) == test->grads[CONV][0]);
    CHECK(test->fresh[CONV] == 0);
    node_end(test);
}

static void a_value_comes_to_where_it_is_wanted(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
    struct psd_message value = value_of(test, 1, CONV, 9);
    struct psd_place place;

    node_begin(test, 9);
    node_sync(test, CONV, 0, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    psd_node_place(test->node, 1, &value, &place);
    CHECK(place.spans[0].data == test->values[CONV] && place.spans[0].bytes == 12 && !place.add);
    node_move((const float[]){4, 4, 4}, &value, &place);
    CHECK(test->fresh[CONV] == 0);
    psd_node_arrived(test->node, &value);
    node_has(test, CONV, 4, 1);
    node_end(test);
}

static void workers_of_one_subtree_are_added_first(void)
{
    for (unsigned first = 0; first < 2; first++) {
        struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 4});
        node_begin(test, 0);
        node_sync(test, CONV, first, 1);
        node_is_quiet(test);
        node_sync(test, CONV, !first, 2);
        struct psd_work sum = node_work(test, PSD_WORK_SUM);
        CHECK(sum.param == CONV && sum.bytes == 12);
        struct psd_send push = node_sent(test, PSD_MESSAGE_PUSH, 1);
        CHECK(push.message.which == 0 && node_floats(&push) == test->grads[CONV][0]);
        CHECK_NEAR(node_floats(&push)[0], 3, 0);
        node_end(test);
    }
}

static void workers_that_are_no_subtree_go_one_by_one(void)
{
    static const unsigned host[] = {0, 1, 0, 1};
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 4, .host = host});

    node_begin(test, 0);
    node_sync(test, CONV, 2, 5);
    struct psd_send push = node_sent(test, PSD_MESSAGE_PUSH, 1);
    CHECK(push.message.which == 2 && node_floats(&push) == test->grads[CONV][2]);
    node_sync(test, CONV, 0, 6);
    push = node_sent(test, PSD_MESSAGE_PUSH, 1);
    CHECK(push.message.which == 0 && node_floats(&push) == test->grads[CONV][0]);
    node_end(test);
}

enum { LONG = 3 * 4096 + 5, WORKERS = 7 };

static const struct node_param long_one[] = {{.name = "long", .rows = 1, .cols = LONG}};

/* One process: the sum of all its workers has the bits of the tree, in every order of syncs. */
static void local_sums_have_the_bits_of_the_tree(void)
{
    const float *leaves[WORKERS];
    float *grads = malloc(sizeof(float) * WORKERS * LONG), *want = malloc(LONG * sizeof *want);

    for (unsigned w = 0; w < WORKERS; w++) {
        psd_random_fill_normal(1, w, 0, LONG, grads + (size_t)w * LONG);
        leaves[w] = grads + (size_t)w * LONG;
    }
    psd_sum_tree(leaves, WORKERS, LONG, want);
    for (unsigned first = 0; first < WORKERS; first++) {
        struct node_test *test = node_of(&(struct node_case){
            .workers = WORKERS, .params = long_one, .n_params = 1, .most = 1 << 20});
        CHECK(test->layout->n_pieces == 1);
        node_begin(test, 0);
        for (unsigned i = 0; i < WORKERS; i++) {
            unsigned w = (first + i) % WORKERS;
            memcpy(test->grads[0][w], leaves[w], LONG * sizeof *want);
            CHECK_OK(psd_node_sync(test->node, 0, w, test->grads[0][w]));
        }
        CHECK(node_work(test, PSD_WORK_SUM).bytes == sizeof *want * LONG * (WORKERS - 1));
        node_work(test, PSD_WORK_UPDATE);
        CHECK(node_same(test->values[0], want, LONG * sizeof *want) && test->fresh[0] == 1);
        node_end(test);
    }
    free(grads);
    free(want);
}

static void a_value_is_fresh_when_its_last_piece_has_come(void)
{
    static const uint32_t orders[][2] = {{0, 2}, {2, 0}}; /* pieces of rank 1 */

    for (size_t i = 0; i < 2; i++) {
        struct node_test *test = node_of(
            &(struct node_case){.ranks = 2, .workers = 2, .params = long_one, .n_params = 1});
        CHECK(test->layout->n_pieces == 4 && test->layout->pieces[0].server == 1);
        node_begin(test, 0);
        node_sync(test, 0, 0, 1);
        node_sent(test, PSD_MESSAGE_PUSH, 1);
        node_sent(test, PSD_MESSAGE_PUSH, 1);
        for (uint32_t piece = 0; piece < 4; piece++) {
            if (test->layout->pieces[piece].server == 0)
                node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 1, piece, 1, 0), 2);
        }
        node_settle(test);
        node_hears(test, value_of(test, 1, orders[i][0], 0), 3);
        CHECK(test->fresh[0] == 0);
        node_hears(test, value_of(test, 1, orders[i][1], 0), 3);
        node_has(test, 0, 3, 1);
        node_end(test);
    }
}

/* --- what may not come ---------------------------------------------------------------------------
 */

static void values_that_nobody_waits_for_are_refused(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 4});
    struct psd_message value = value_of(test, 1, CONV, 0);

    node_refuses(test, value, "a value of conv that nobody waits for");
    node_begin(test, 0);
    node_refuses(test, value, "nobody waits for");
    node_sync(test, CONV, 1, 1);
    node_refuses(test, value, "nobody waits for"); /* worker 0 has not synced */
    node_sync(test, CONV, 0, 1);
    node_settle(test);
    node_hears(test, value, 7);
    node_refuses(test, value, "nobody waits for"); /* it has come */
    node_has(test, CONV, 7, 1);
    node_end(test);
}

static void a_value_that_comes_twice_is_refused(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
    struct psd_message value = value_of(test, 1, CONV, 0);
    struct psd_place place;

    node_begin(test, 0);
    node_sync(test, CONV, 0, 1);
    node_settle(test);
    psd_node_place(test->node, 1, &value, &place);
    node_refuses(test, value, "a value of conv that nobody waits for");
    psd_node_arrived(test->node, &value);
    node_refuses(test, value, "a value of conv that nobody waits for");
    CHECK(test->fresh[CONV] == 1);
    node_end(test);
}

static void strange_values_are_refused_and_change_nothing(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 3, .workers = 3});
    static const struct node_twist twists[] = {
        NODE_TWIST(subject, FC, "piece 1 is not rank 1's"),
        NODE_TWIST(subject, 2, "there is no piece 2"),
        NODE_TWIST(from, 2, "piece 0 is not rank 2's"),
        NODE_TWIST(first, 1, "piece 0 has no parts from 1, 1 of them"),
        NODE_TWIST(count, 0, "piece 0 has no parts from 0, 0 of them"),
        NODE_TWIST(count, 2, "piece 0 has no parts from 0, 2 of them"),
        NODE_TWIST(length, 0, "value of conv has 0 bytes"),
        NODE_TWIST(length, 13, "value of conv has 13 bytes"),
        NODE_TWIST(iteration, 3, "a value of conv that nobody waits for"),
        NODE_TWIST(iteration, 5, "a value of conv that nobody waits for"),
        NODE_TWIST(kind, PSD_MESSAGE_INITIAL, "that nobody waits for"),
    };

    node_begin(test, 4);
    node_sync(test, CONV, 0, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    node_refuses_all(test, value_of(test, 1, CONV, 4), twists, sizeof twists / sizeof *twists);
    node_hears(test, value_of(test, 1, CONV, 4), 7);
    node_has(test, CONV, 7, 1);
    node_end(test);
}

static const struct node_param fc_and_bias[][2] = {
    {{.name = "fc", .rows = 40, .cols = 1, .route = PSD_ROUTE_BROADCAST},
     {.name = "bias", .rows = 1, .cols = 40, .bias_of = 1}},
    {{.name = "fc", .rows = 40, .cols = 1, .route = PSD_ROUTE_ROW_SHARDED},
     {.name = "bias", .rows = 1, .cols = 40, .bias_of = 1}},
};

/* Rank 0 of two, with workers 0 and 1. */
static struct node_test *factored(int route)
{
    struct node_test *test = node_of(&(struct node_case){
        .ranks = 2, .workers = 4, .params = fc_and_bias[route], .n_params = 2, .most = 1 << 10});

    node_begin(test, 0);
    return test;
}

static void what_is_rebuilt_here_does_not_come_from_others(void)
{
    struct node_test *test = factored(0);

    node_sync_factors(test, 0, 0, 1, 1);
    node_sync_factors(test, 0, 1, 1, 1);
    node_settle(test);
    for (uint32_t i = 0; i < test->layout->n_pieces; i++) {
        if (test->layout->pieces[i].server == 1)
            node_refuses(test, value_of(test, 1, i, 0), "nobody waits for");
    }
    node_end(test);
}

static void a_bias_comes_no_sooner_than_its_weight_is_synced(void)
{
    struct node_test *test = factored(1);
    struct psd_message bias = value_of(test, 1, node_piece(test, 1) + 1, 0);

    node_sync_factors(test, 0, 0, 1, 1);
    node_settle(test);
    node_refuses(test, bias, "a value of bias that nobody waits for");
    node_sync_factors(test, 0, 1, 1, 1);
    node_settle(test);
    node_hears(test, bias, 1);
    node_end(test);
}

/* --- mistakes of the caller ----------------------------------------------------------------------
 */

static void a_call_that_names_nothing_of_ours_is_refused(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    CHECK_STATUS(PSD_EINVAL, node_try_sync(test, FC, 0, 1));
    CHECK_TEXT("fc is synced before an iteration has begun", psd_error());
    node_begin(test, 0);
    CHECK_STATUS(PSD_EINVAL, psd_node_sync(test->node, 2, 0, test->grads[0][0]));
    CHECK_TEXT("there is no parameter 2", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_node_sync_factors(test->node, 2, 0, 1));
    CHECK_TEXT("there is no parameter 2", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_node_sync(test->node, FC, 1, test->grads[0][0]));
    CHECK_TEXT("fc is synced for worker 1, which rank 0 does not host", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_node_sync(test->node, FC, 9, test->grads[0][0]));
    CHECK_TEXT("fc is synced for worker 9, which rank 0 does not host", psd_error());
    node_end(test); /* and nobody was told */
}

static const struct node_param mixed[] = {
    {.name = "conv", .rows = 1, .cols = 3},
    {.name = "fc", .rows = 4, .cols = 2, .route = PSD_ROUTE_BROADCAST},
    {.name = "fc.bias", .rows = 1, .cols = 4, .bias_of = 2},
};

static struct node_test *mixed_node(void)
{
    static const size_t batch[] = {3, 1};
    struct node_test *test = node_of(&(struct node_case){
        .ranks = 2, .workers = 2, .batch = batch, .params = mixed, .n_params = 3});

    node_begin(test, 6);
    return test;
}

static void a_double_sync_ends_the_job(void)
{
    struct node_test *test = mixed_node();

    node_sync(test, 0, 0, 1);
    node_settle(test);
    CHECK_STATUS(PSD_EINVAL, node_try_sync(test, 0, 0, 1));
    static const char sentence[] = "rank 0: worker 0 syncs conv twice in iteration 6; every worker "
                                   "syncs a parameter once";
    CHECK_TEXT(sentence, psd_error());
    node_ends(test, PSD_EPEER, sentence);
    node_free(test);
}

static void a_double_sync_of_factors_ends_the_job(void)
{
    struct node_test *test = mixed_node();

    node_sync_factors(test, 1, 0, 1, 1);
    node_settle(test);
    CHECK_STATUS(PSD_EINVAL, psd_node_sync_factors(test->node, 1, 0, 3));
    node_ends(
        test, PSD_EPEER,
        "rank 0: worker 0 syncs fc twice in iteration 6; every worker syncs a parameter once");
    node_free(test);
}

static void a_sync_before_the_wait_for_the_last_value_ends_the_job(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    for (uint64_t t = 6; t < 8; t++) {
        node_begin(test, t);
        for (size_t i = 0; i < 2 && t == 6; i++)
            node_sync(test, i, 0, 1);
        node_settle(test);
    }
    CHECK_STATUS(PSD_EINVAL, node_try_sync(test, FC, 0, 1));
    node_ends(
        test, PSD_EPEER,
        "rank 0 syncs fc in iteration 7 before its value of the one before has come; wait for "
        "it first");
    node_free(test);
}

static void a_sync_before_the_wait_for_its_bias_ends_the_job(void)
{
    static const struct node_param local[] = {
        {.name = "fc", .rows = 4, .cols = 2, .route = PSD_ROUTE_LOCAL},
        {.name = "fc.bias", .rows = 1, .cols = 4, .bias_of = 1}};
    struct node_test *test = node_of(&(struct node_case){.params = local, .n_params = 2});

    node_begin(test, 0);
    node_sync_factors(test, 0, 0, 1, 1);
    node_work(test, PSD_WORK_REBUILD);
    CHECK(test->fresh[0] == 1 && test->fresh[1] == 0); /* the bias is being rebuilt */
    node_begin(test, 1);
    CHECK_STATUS(PSD_EINVAL, psd_node_sync_factors(test->node, 0, 0, 1));
    node_ends(
        test, PSD_EPEER,
        "rank 0 syncs fc in iteration 1 before the value of its bias fc.bias of the one before "
        "has come; wait for that, too");
    node_settle(test);
    node_free(test);
}

static void a_gradient_for_a_factored_parameter_ends_the_job(void)
{
    struct node_test *test = mixed_node();

    CHECK_STATUS(PSD_EINVAL, node_try_sync(test, 1, 0, 1));
    node_ends(
        test, PSD_EPEER,
        "rank 0: worker 0 syncs a gradient of fc, which is factored; sync its factors, as the "
        "others do");
    node_free(test);
}

static void factors_for_a_dense_parameter_end_the_job(void)
{
    struct node_test *test = mixed_node();

    CHECK_STATUS(PSD_EINVAL, psd_node_sync_factors(test->node, 0, 0, 3));
    node_ends(test, PSD_EPEER,
              "rank 0: worker 0 syncs factors of conv, which is dense; sync its gradient, as the "
              "others do");
    node_free(test);
}

static void another_batch_than_agreed_ends_the_job(void)
{
    struct node_test *test = mixed_node();

    CHECK_STATUS(PSD_EINVAL, psd_node_sync_factors(test->node, 1, 0, 4));
    node_ends(test, PSD_EPEER, "rank 0: worker 0 syncs fc with 4 samples; 3 were agreed");
    node_free(test);
}

static void a_bias_that_comes_from_factors_is_not_synced(void)
{
    struct node_test *test = mixed_node();

    CHECK_STATUS(PSD_EINVAL, node_try_sync(test, 2, 0, 1));
    CHECK_TEXT("fc.bias is not synced: it comes from the factors of fc", psd_error());
    node_end(test);
}

/* --- order and sizes -----------------------------------------------------------------------------
 */

static const struct node_param six[] = {
    {.name = "a", .rows = 1, .cols = 1}, {.name = "b", .rows = 1, .cols = 1},
    {.name = "c", .rows = 1, .cols = 1}, {.name = "d", .rows = 1, .cols = 1},
    {.name = "e", .rows = 1, .cols = 1}, {.name = "f", .rows = 1, .cols = 1},
};

/* Of six parameters rank 1 owns a, c and e: e goes at once, and the others when there is credit. */
static void what_is_wanted_first_leaves_first(void)
{
    static const struct {
        uint32_t urgency[6], next[2];
    } cases[] = {{{0, 1, 2, 3, 4, 5}, {0, 2}}, {{5, 4, 3, 2, 1, 0}, {2, 0}}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_test *test = node_of(&(struct node_case){
            .ranks = 2, .workers = 2, .params = six, .n_params = 6, .credit = 1});
        psd_node_set_urgency(test->node, cases[i].urgency);
        node_begin(test, 0);
        for (size_t param = 6; param-- > 0;)
            node_sync(test, param, 0, 1);
        struct psd_send *push = node_sends(test, PSD_MESSAGE_PUSH, 1);
        node_is_quiet(test);
        CHECK(push->message.subject == 4 && psd_node_busy(test->node));

        for (uint32_t k = 0; k < 3; k++) { /* values have credit of their own */
            uint32_t piece = 5 - 2 * k;
            node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 1, piece, 1, 0), 2);
            CHECK(node_work(test, PSD_WORK_UPDATE).urgency == cases[i].urgency[piece]);
        }
        CHECK(node_sent(test, PSD_MESSAGE_VALUE, 1).message.subject == 5);
        CHECK(node_sent(test, PSD_MESSAGE_VALUE, 1).message.subject == 1 + cases[i].next[0]);
        CHECK(node_sent(test, PSD_MESSAGE_VALUE, 1).message.subject == 1 + cases[i].next[1]);
        psd_node_sent(test->node, push);
        CHECK(node_sent(test, PSD_MESSAGE_PUSH, 1).message.subject == cases[i].next[0]);
        CHECK(node_sent(test, PSD_MESSAGE_PUSH, 1).message.subject == cases[i].next[1]);
        node_end(test);
    }
}

static void sizes_alone_go_the_same_way(void)
{
    struct node_test *test =
        node_of(&(struct node_case){.ranks = 2, .workers = 4, .sizes_only = true});

    node_begin(test, 0);
    CHECK_OK(psd_node_sync(test->node, CONV, 0, NULL));
    CHECK_OK(psd_node_sync(test->node, CONV, 1, NULL));
    CHECK(!node_work(test, PSD_WORK_SUM).run);
    struct psd_send push = node_sent(test, PSD_MESSAGE_PUSH, 1);
    CHECK(push.message.length == 12 && !node_floats(&push));
    node_deliver(test, value_of(test, 1, CONV, 0), NULL);
    CHECK(test->fresh[CONV] == 1);
    node_end(test);
}

int main(int argc, char **argv)
{
    RUN(a_gradient_goes_to_its_owner_from_where_it_is)
    RUN(a_value_comes_to_where_it_is_wanted)
    RUN(workers_of_one_subtree_are_added_first)
    RUN(workers_that_are_no_subtree_go_one_by_one)
    RUN(local_sums_have_the_bits_of_the_tree)
    RUN(a_value_is_fresh_when_its_last_piece_has_come)
    RUN(values_that_nobody_waits_for_are_refused)
    RUN(a_value_that_comes_twice_is_refused)
    RUN(strange_values_are_refused_and_change_nothing)
    RUN(what_is_rebuilt_here_does_not_come_from_others)
    RUN(a_bias_comes_no_sooner_than_its_weight_is_synced)
    RUN(a_call_that_names_nothing_of_ours_is_refused)
    RUN(a_double_sync_ends_the_job)
    RUN(a_double_sync_of_factors_ends_the_job)
    RUN(a_sync_before_the_wait_for_the_last_value_ends_the_job)
    RUN(a_sync_before_the_wait_for_its_bias_ends_the_job)
    RUN(a_gradient_for_a_factored_parameter_ends_the_job)
    RUN(factors_for_a_dense_parameter_end_the_job)
    RUN(another_batch_than_agreed_ends_the_job)
    RUN(a_bias_that_comes_from_factors_is_not_synced)
    RUN(what_is_wanted_first_leaves_first)
    RUN(sizes_alone_go_the_same_way)
}
