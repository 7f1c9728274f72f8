/* shard_test.c - a piece that this rank owns: every order of arrival gives the sum of the tree, and
 * what may not come changes nothing. */
#include "base/random.h"
#include "lone_node.h"
#include "math/sum.h"

/* Input `input` of fc comes from a peer. */
static struct psd_message push_of(const struct node_test *test, unsigned from, uint32_t input,
                                  uint64_t iteration)
{
    return node_message(test, PSD_MESSAGE_PUSH, from, FC, input, iteration);
}

static void a_push_is_kept_until_its_sibling_comes(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    node_begin(test, 5);
    node_hears(test, push_of(test, 1, 1, 5), 2);
    node_is_quiet(test);
    node_sync(test, FC, 0, 1);
    struct psd_work sum = node_work(test, PSD_WORK_SUM);
    CHECK(sum.param == FC && sum.bytes == 12);
    struct psd_work update = node_work(test, PSD_WORK_UPDATE);
    CHECK(update.param == FC && update.bytes == 12);
    struct psd_send value = node_sent(test, PSD_MESSAGE_VALUE, 1);
    CHECK(value.message.subject == FC && value.message.iteration == 5);
    CHECK(value.message.first == 0 && value.message.count == 1 && value.message.length == 12);
    CHECK_NEAR(node_floats(&value)[2], 3, 0);
    node_has(test, FC, 3, 1);
    node_end(test);
}

static void a_push_is_added_to_a_sibling_that_is_here(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
    struct psd_message push = push_of(test, 1, 1, 5);
    struct psd_place place;

    node_begin(test, 5);
    node_sync(test, FC, 0, 1);
    node_is_quiet(test);
    psd_node_place(test->node, 1, &push, &place);
    CHECK(place.add && place.spans[0].data == test->grads[FC][0] && place.spans[0].bytes == 12);
    node_move((const float[]){2, 2, 2}, &push, &place);
    psd_node_arrived(test->node, &push);
    node_work(test, PSD_WORK_UPDATE);
    node_sent(test, PSD_MESSAGE_VALUE, 1);
    node_has(test, FC, 3, 1);
    node_end(test);
}

static void a_sum_is_the_callers_when_it_has_left_for_all_others(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 3, .workers = 3});

    node_begin(test, 0);
    node_sync(test, FC, 0, 1);
    node_hears(test, push_of(test, 2, 2, 0), 4);
    node_hears(test, push_of(test, 1, 1, 0), 2);
    node_work(test, PSD_WORK_SUM);
    node_work(test, PSD_WORK_UPDATE);
    struct psd_send *first = node_sends(test, PSD_MESSAGE_VALUE, 1);
    struct psd_send *second = node_sends(test, PSD_MESSAGE_VALUE, 2);
    psd_node_sent(test->node, second);
    CHECK(test->fresh[FC] == 0);
    psd_node_sent(test->node, first);
    node_has(test, FC, 7, 1);
    node_end(test);
}

/* The caller wants the sum where its gradient is. */
static void sync_in_place(struct node_test *test, float number)
{
    for (size_t i = 0; i < 3; i++)
        test->values[FC][i] = number;
    CHECK_OK(psd_node_sync(test->node, FC, 0, test->values[FC]));
}

static void a_sum_that_is_made_where_it_belongs_needs_nothing_more(void)
{
    for (int is_first = 0; is_first < 2; is_first++) {
        struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
        node_begin(test, 5);
        if (is_first)
            sync_in_place(test, 1);
        node_hears(test, push_of(test, 1, 1, 5), 2);
        if (!is_first) {
            sync_in_place(test, 1);
            node_work(test, PSD_WORK_SUM);
        }
        struct psd_send value = node_sent(test, PSD_MESSAGE_VALUE, 1);
        CHECK(value.message.iteration == 5 && node_floats(&value) == test->values[FC]);
        node_has(test, FC, 3, 1);
        node_end(test);
    }
}

/* Whose sum is where its value is has no mean yet. */
static void what_is_averaged_is_never_done_with_its_sum(void)
{
    static const struct node_param params[] = {
        {.name = "conv", .rows = 1, .cols = 3},
        {.name = "mean", .rows = 1, .cols = 3, .averaged = true}};
    struct node_test *test = node_of(&(struct node_case){
        .ranks = 2, .workers = 2, .updates = true, .params = params, .n_params = 2});

    node_begin(test, 5);
    sync_in_place(test, 1);
    node_hears(test, push_of(test, 1, 1, 5), 2);
    node_work(test, PSD_WORK_UPDATE);
    node_sent(test, PSD_MESSAGE_VALUE, 1);
    node_has(test, FC, 1.5f, 1);
    node_end(test);
}

/* --- every order ---------------------------------------------------------------------------------
 */

enum { INPUTS = 5, VALUES = 3 };

/* Numbers whose sum depends on the order of additions. */
static void draw(unsigned worker, float out[VALUES])
{
    psd_random_fill_normal(7, worker, 0, VALUES, out);
}

static void sync_worker(struct node_test *test, unsigned worker)
{
    draw(worker, test->grads[FC][worker]);
    CHECK_OK(psd_node_sync(test->node, FC, worker, test->grads[FC][worker]));
}

/* The sum of an input's workers, as its rank would send it. */
static void push_input(struct node_test *test, uint32_t input)
{
    const struct psd_merge_node *in = &test->merge->nodes[input];
    float grads[2][VALUES];

    draw(in->first_worker, grads[0]);
    draw(in->first_worker + 1, grads[1]);
    if (in->workers == 2)
        psd_sum_add(grads[0], grads[1], VALUES);
    node_deliver(test, push_of(test, in->rank, input, 0), grads[0]);
}

static void come_in_order(const unsigned order[INPUTS], bool at_once, float out[VALUES])
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 3, .workers = 8});

    CHECK(test->merge->n_inputs == INPUTS); /* as drawn in merge.h */
    node_begin(test, 0);
    for (size_t i = 0; i < INPUTS; i++) {
        const struct psd_merge_node *in = &test->merge->nodes[order[i]];
        for (unsigned k = 0; in->rank == 0 && k < in->workers; k++)
            sync_worker(test, in->first_worker + k);
        if (in->rank != 0)
            push_input(test, order[i]);
        if (at_once)
            node_settle(test);
    }
    node_settle(test);
    CHECK(test->fresh[FC] == 1);
    memcpy(out, test->values[FC], VALUES * sizeof *out);
    node_end(test);
}

static void every_order_of_arrival_gives_the_bits_of_the_tree(void)
{
    float grads[8][VALUES], want[VALUES], got[VALUES];
    const float *leaves[8];

    for (unsigned w = 0; w < 8; w++) {
        draw(w, grads[w]);
        leaves[w] = grads[w];
    }
    psd_sum_tree(leaves, 8, VALUES, want);
    for (unsigned n = 0; n < 2 * 120; n++) {
        unsigned order[INPUTS] = {0, 1, 2, 3, 4};
        for (unsigned i = INPUTS, left = n / 2; i > 1; left /= i--) {
            unsigned other = left % i, last = order[i - 1];
            order[i - 1] = order[other];
            order[other] = last;
        }
        come_in_order(order, n % 2, got);
        CHECK(node_same(want, got, sizeof want));
    }
}

static void a_sibling_waits_while_its_slot_is_being_filled(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 4, .workers = 4});
    struct psd_message second = push_of(test, 2, 2, 0), third = push_of(test, 3, 3, 0);
    struct psd_place place, other;

    CHECK(test->merge->nodes[2].sibling == 3);
    psd_node_place(test->node, 2, &second, &place);
    psd_node_place(test->node, 3, &third, &other);
    CHECK(!place.later && other.later);
    node_move((const float[]){2, 2, 2}, &second, &place);
    psd_node_arrived(test->node, &second);

    psd_node_place(test->node, 3, &third, &other);
    CHECK(!other.later && other.add && other.spans[0].data == place.spans[0].data);
    node_move((const float[]){3, 3, 3}, &third, &other);
    psd_node_arrived(test->node, &third);
    node_begin(test, 0);
    node_sync(test, FC, 0, 0.5f);
    node_hears(test, push_of(test, 1, 1, 0), 1);
    node_settle(test);
    node_has(test, FC, 6.5f, 1);
    node_end(test);
}

/* --- rounds --------------------------------------------------------------------------------------
 */

static void a_round_follows_the_other(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    for (uint64_t t = 7; t < 11; t++) {
        node_hears(test, push_of(test, 1, 1, t), (float)t); /* a peer may be the first */
        node_refuses(test, push_of(test, 1, 1, t + 1), "where others are in");
        node_begin(test, t);
        node_sync(test, FC, 0, 1);
        node_work(test, PSD_WORK_SUM);
        node_refuses(test, push_of(test, 1, 1, t + 1), "where others are in");
        node_work(test, PSD_WORK_UPDATE);
        node_sent(test, PSD_MESSAGE_VALUE, 1);
        node_has(test, FC, (float)t + 1, (unsigned)(t - 6));
        node_sync(test, CONV, 0, 0);
        node_sent(test, PSD_MESSAGE_PUSH, 1);
        node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, t), 0);
    }
    node_end(test);
}

static void the_rule_is_applied_where_its_state_is(void)
{
    struct node_test *test = node_of(&(struct node_case){
        .ranks = 2, .workers = 2, .updates = true, .update = {.momentum = 0.5f}});
    /* the mean gradient is 2; history: 2, then 2 + 1, then 2 + 1.5 */
    static const float want[] = {-2, -5, -8.5f};

    for (uint64_t t = 0; t < 3; t++) {
        node_begin(test, t);
        node_sync(test, FC, 0, 1);
        node_hears(test, push_of(test, 1, 1, t), 3);
        node_work(test, PSD_WORK_UPDATE);
        struct psd_send *value = node_sends(test, PSD_MESSAGE_VALUE, 1);
        node_has(test, FC, want[t], (unsigned)t + 1); /* and is the caller's at once, to read */
        CHECK_NEAR(node_floats(value)[0], want[t], 0);
        psd_node_sent(test->node, value);
        node_sync(test, CONV, 0, 0);
        node_sent(test, PSD_MESSAGE_PUSH, 1);
        node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, t), 0);
    }
    node_end(test);
}

static void an_update_has_the_rate_of_its_own_iteration(void)
{
    struct node_test *test =
        node_of(&(struct node_case){.ranks = 2, .workers = 2, .updates = true});

    CHECK_OK(psd_node_begin(test->node, 0, 0.5f));
    node_sync(test, FC, 0, 1);
    node_sync(test, CONV, 0, 0);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    CHECK_OK(psd_node_begin(test->node, 1, 100)); /* all is synced, and nothing has come */
    node_hears(test, push_of(test, 1, 1, 0), 3);
    node_settle(test);
    node_has(test, FC, -1, 1);
    node_end(test);
}

/* --- what may not come ---------------------------------------------------------------------------
 */

static void strange_pushes_are_refused_and_change_nothing(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 3, .workers = 3});
    struct psd_message good = push_of(test, 2, 2, 4);
    static const struct node_twist twists[] = {
        NODE_TWIST(subject, CONV, "piece 0 is not for rank 0 to sum"),
        NODE_TWIST(subject, 2, "there is no piece 2"),
        NODE_TWIST(subject, UINT32_MAX, "there is no piece 4294967295"),
        NODE_TWIST(which, 1, "input 1 is not rank 2's"),
        NODE_TWIST(which, 0, "input 0 is not rank 2's"),
        NODE_TWIST(which, 3, "input 3 is not rank 2's"), /* a merge, which nobody sends */
        NODE_TWIST(which, UINT32_MAX, "input 4294967295 is not rank 2's"),
        NODE_TWIST(from, 1, "input 2 is not rank 1's"),
        NODE_TWIST(first, 1, "piece 1 has no parts from 1, 1 of them"),
        NODE_TWIST(first, UINT32_MAX, "piece 1 has no parts from 4294967295, 1 of them"),
        NODE_TWIST(count, 0, "piece 1 has no parts from 0, 0 of them"),
        NODE_TWIST(count, 2, "piece 1 has no parts from 0, 2 of them"),
        NODE_TWIST(count, UINT32_MAX, "piece 1 has no parts from 0, 4294967295 of them"),
        NODE_TWIST(length, 11, "push of fc has 11 bytes"),
        NODE_TWIST(length, 16, "push of fc has 16 bytes"),
        NODE_TWIST(length, UINT64_MAX, "push of fc has 18446744073709551615 bytes"),
        NODE_TWIST(iteration, 3, "rank 2 syncs fc in iteration 3, where others are in 4"),
        NODE_TWIST(iteration, 5, "rank 2 syncs fc in iteration 5, where others are in 4"),
    };

    node_begin(test, 4);
    node_sync(test, FC, 0, 1);
    node_refuses_all(test, good, twists, sizeof twists / sizeof *twists);
    node_hears(test, good, 4);
    node_hears(test, push_of(test, 1, 1, 4), 2);
    node_settle(test);
    node_has(test, FC, 7, 1);
    node_end(test);
}

static void a_push_that_comes_twice_is_refused(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 4, .workers = 4});
    struct psd_message push = push_of(test, 3, 3, 0);
    struct psd_place place;

    psd_node_place(test->node, 3, &push, &place); /* on its way, */
    node_refuses(test, push, "rank 3 pushes fc of iteration 0 out of turn");
    node_move((const float[]){3, 3, 3}, &push, &place);
    psd_node_arrived(test->node, &push); /* here, */
    node_refuses(test, push, "out of turn");
    node_hears(test, push_of(test, 2, 2, 0), 2); /* added to another, */
    node_refuses(test, push, "out of turn");
    node_begin(test, 0);
    node_sync(test, FC, 0, 0);
    node_hears(test, push_of(test, 1, 1, 0), 1);
    node_work(test, PSD_WORK_SUM);
    node_refuses(test, push, "out of turn"); /* and being updated */
    node_settle(test);
    node_has(test, FC, 6, 1);
    node_refuses(test, push, "rank 3 syncs fc in iteration 0, where others are in 1");
    node_end(test);
}

static void who_syncs_in_another_iteration_than_the_others_ends_the_job(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    node_hears(test, push_of(test, 1, 1, 6), 2);
    node_begin(test, 5);
    node_sync(test, FC, 0, 1);
    node_ends(test, PSD_EPEER, "rank 0 syncs fc in iteration 5, where others are in 6");
    node_free(test);
}

/* Two ranks whose workers alternate send one sum for each worker. */
static void more_sums_than_can_be_kept_apart_are_refused(void)
{
    static const struct {
        unsigned workers;
        psd_status status;
    } cases[] = {{20000, PSD_OK}, {22000, PSD_ENOSUP}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = NULL;
        struct psd_node_options options = {.sizes_only = true, .driver = &node_driver};
        struct psd_layout *layout = NULL;
        struct psd_merge *merge = NULL;
        struct psd_node *node = NULL;
        CHECK_OK(psd_job_create(2, cases[i].workers, 1, PSD_COMM_SUM, NULL, &job));
        for (unsigned w = 0; w < job->workers; w++)
            job->host[w] = w % 2;
        node_add_param(job, &node_params[0]);
        CHECK_OK(psd_layout_create(job, 0, &layout));
        CHECK_OK(psd_merge_create(job, &merge));
        options.job = job;
        options.layout = layout;
        options.merge = merge;
        CHECK_STATUS(cases[i].status, psd_node_create(&options, &node));
        psd_node_destroy(node);
        psd_merge_destroy(merge);
        psd_layout_destroy(layout);
        psd_job_destroy(job);
    }
    CHECK_TEXT("22000 sums of 22000 workers are more than a server can keep apart", psd_error());
}

/* --- memory --------------------------------------------------------------------------------------
 */

static void a_round_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
        node_begin(test, 0);
        node_hears(test, push_of(test, 1, 1, 0), 2);
        psd_alloc_fail_at(n);
        CHECK_OK(node_try_sync(test, FC, 0, 1));
        node_settle(test);
        failed = psd_alloc_fail_at(-1);
        CHECK(test->ended == failed && test->fresh[FC] == !failed);
        if (failed)
            CHECK_TEXT("rank 0 is out of memory", test->sentence);
        node_free(test);
    }
}

static void works_are_used_again(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    for (uint64_t t = 0; t < 3; t++) {
        if (t == 2)
            psd_alloc_fail_at(0); /* nothing is allocated in steady state */
        node_begin(test, t);
        node_sync(test, FC, 0, 1);
        node_deliver(test, push_of(test, 1, 1, t), (const float[]){2, 2, 2});
        node_sync(test, CONV, 0, 0);
        node_deliver(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, t),
                     (const float[]){0, 0, 0});
        node_settle(test);
    }
    CHECK(!psd_alloc_fail_at(-1));
    node_end(test);
}

static void sizes_alone_go_the_same_way(void)
{
    struct node_test *test =
        node_of(&(struct node_case){.ranks = 2, .workers = 2, .sizes_only = true});

    node_begin(test, 0);
    node_deliver(test, push_of(test, 1, 1, 0), NULL);
    CHECK_OK(psd_node_sync(test->node, FC, 0, NULL));
    CHECK(!node_work(test, PSD_WORK_SUM).run);
    CHECK(!node_work(test, PSD_WORK_UPDATE).run);
    struct psd_send value = node_sent(test, PSD_MESSAGE_VALUE, 1);
    CHECK(value.message.length == 12 && !node_floats(&value) && test->fresh[FC] == 1);
    node_end(test);
}

int main(int argc, char **argv)
{
    RUN(a_push_is_kept_until_its_sibling_comes)
    RUN(a_push_is_added_to_a_sibling_that_is_here)
    RUN(a_sum_that_is_made_where_it_belongs_needs_nothing_more)
    RUN(what_is_averaged_is_never_done_with_its_sum)
    RUN(a_sum_is_the_callers_when_it_has_left_for_all_others)
    RUN(every_order_of_arrival_gives_the_bits_of_the_tree)
    RUN(a_sibling_waits_while_its_slot_is_being_filled)
    RUN(a_round_follows_the_other)
    RUN(the_rule_is_applied_where_its_state_is)
    RUN(an_update_has_the_rate_of_its_own_iteration)
    RUN(strange_pushes_are_refused_and_change_nothing)
    RUN(a_push_that_comes_twice_is_refused)
    RUN(who_syncs_in_another_iteration_than_the_others_ends_the_job)
    RUN(more_sums_than_can_be_kept_apart_are_refused)
    RUN(a_round_survives_every_failed_allocation)
    RUN(works_are_used_again)
    RUN(sizes_alone_go_the_same_way)
}
