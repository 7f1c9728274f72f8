/* shared_test.c - small parameters in one piece: together when all are ready, in runs when somebody
 * waits. */
#include "lone_node.h"

enum { X, Y, Z }; /* parameters, and parts of the only piece, which rank 0 owns */

static const struct node_param xyz[] = {{.name = "x", .rows = 1, .cols = 3},
                                        {.name = "y", .rows = 1, .cols = 2},
                                        {.name = "z", .rows = 1, .cols = 1}};

/* A member with `workers` in all, and the others on the other rank. */
static struct node_test *member(unsigned rank, unsigned workers, const unsigned *host)
{
    struct node_test *test = node_of(&(struct node_case){.rank = rank,
                                                         .ranks = 2,
                                                         .workers = workers,
                                                         .host = host,
                                                         .params = xyz,
                                                         .n_params = 3,
                                                         .most = 1 << 16});

    CHECK(test->layout->n_pieces == 1 && test->layout->pieces[0].server == 0);
    return test;
}

/* Parts [first, first + count) of the piece. */
static struct psd_message run_of(const struct node_test *test, enum psd_message_kind kind,
                                 unsigned from, uint32_t first, uint32_t count, uint64_t iteration)
{
    return (struct psd_message){.kind = kind,
                                .from = from,
                                .iteration = iteration,
                                .which = kind == PSD_MESSAGE_PUSH ? from : 0,
                                .first = first,
                                .count = count,
                                .length = node_bytes(test, 0, first, count)};
}

static void pushes(struct node_test *test, uint32_t first, uint32_t count, const float *want)
{
    struct psd_send push = node_sent(test, PSD_MESSAGE_PUSH, 0);

    CHECK(push.message.subject == 0 && push.message.which == 1);
    CHECK(push.message.first == first && push.message.count == count);
    CHECK(push.message.length == node_bytes(test, 0, first, count));
    CHECK(node_same(node_floats(&push), want, push.message.length));
}

static void publishes(struct node_test *test, uint32_t first, uint32_t count, const float *want)
{
    struct psd_send value = node_sent(test, PSD_MESSAGE_VALUE, 1);

    CHECK(value.message.first == first && value.message.count == count);
    CHECK(value.message.length == node_bytes(test, 0, first, count));
    CHECK(node_same(node_floats(&value), want, value.message.length));
}

/* --- a member that pushes ------------------------------------------------------------------------
 */

static void what_is_ready_together_travels_together(void)
{
    static const size_t orders[][3] = {{X, Y, Z}, {Z, Y, X}, {Y, Z, X}};

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct node_test *test = member(1, 2, NULL);
        node_begin(test, 3);
        for (size_t k = 0; k < 3; k++) {
            node_is_quiet(test);
            node_sync(test, orders[i][k], 1, (float)orders[i][k]);
        }
        pushes(test, 0, 3, (const float[]){0, 0, 0, 1, 1, 2});
        node_end(test);
    }
}

static void values_go_to_where_each_belongs(void)
{
    struct node_test *test = member(1, 2, NULL);

    node_begin(test, 0);
    for (size_t i = X; i <= Z; i++)
        node_sync(test, i, 1, 0);
    node_settle(test);
    node_deliver(test, run_of(test, PSD_MESSAGE_VALUE, 0, Y, 2, 0), (const float[]){4, 4, 5});
    node_has(test, Y, 4, 1);
    node_has(test, Z, 5, 1);
    CHECK(test->fresh[X] == 0);
    node_hears(test, run_of(test, PSD_MESSAGE_VALUE, 0, X, 1, 0), 3);
    node_has(test, X, 3, 1);
    node_end(test);
}

static void a_wait_lets_go_what_is_ready_and_the_rest_follows(void)
{
    struct node_test *test = member(1, 2, NULL);

    node_begin(test, 0);
    node_sync(test, Z, 1, 7);
    node_sync(test, X, 1, 1);
    node_is_quiet(test);
    psd_node_waits(test->node, X);
    pushes(test, X, 1, (const float[]){1, 1, 1});
    pushes(test, Z, 1, (const float[]){7});
    node_hears(test, run_of(test, PSD_MESSAGE_VALUE, 0, X, 1, 0), 0);
    node_sync(test, Y, 1, 2); /* nobody waits any more, but its piece has been taken apart */
    pushes(test, Y, 1, (const float[]){2, 2});
    node_hears(test, run_of(test, PSD_MESSAGE_VALUE, 0, Y, 2, 0), 0);

    node_begin(test, 1); /* together again */
    for (size_t i = X; i <= Z; i++)
        node_sync(test, i, 1, 1);
    pushes(test, 0, 3, (const float[]){1, 1, 1, 1, 1, 1});
    node_end(test);
}

static void while_somebody_waits_nothing_is_held_back(void)
{
    struct node_test *test = member(1, 2, NULL);

    node_begin(test, 0);
    node_sync(test, X, 1, 1);
    psd_node_waits(test->node, X);
    pushes(test, X, 1, (const float[]){1, 1, 1});
    psd_node_waits(test->node, X); /* another thread */
    node_is_quiet(test);
    node_sync(test, Z, 1, 3);
    pushes(test, Z, 1, (const float[]){3});
    node_sync(test, Y, 1, 2);
    pushes(test, Y, 1, (const float[]){2, 2});
    node_end(test);
}

static void a_collective_lets_go_what_is_ready(void)
{
    struct node_test *test = member(1, 2, NULL);

    node_begin(test, 0);
    node_sync(test, X, 1, 1);
    node_sync(test, Y, 1, 2);
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    pushes(test, X, 2, (const float[]){1, 1, 1, 2, 2});
    node_sent(test, PSD_MESSAGE_GIVE, 0);
    node_sync(test, Z, 1, 3); /* another thread's */
    pushes(test, Z, 1, (const float[]){3});
    node_end(test);
}

static void a_wait_for_what_is_fresh_changes_nothing(void)
{
    struct node_test *test = member(1, 2, NULL);

    node_begin(test, 0);
    psd_node_waits(test->node, X);
    node_sync(test, Y, 1, 1);
    node_is_quiet(test);
    node_settle(test);
    node_end(test);
}

static void each_input_has_parts_of_its_own(void)
{
    static const unsigned host[] = {0, 1, 0, 1};
    struct node_test *test = member(1, 4, host);

    node_begin(test, 0);
    for (size_t i = X; i <= Z; i++)
        node_sync(test, i, 3, 3);
    struct psd_send push = node_sent(test, PSD_MESSAGE_PUSH, 0);
    CHECK(push.message.which == 3 && push.message.count == 3);
    CHECK_NEAR(node_floats(&push)[5], 3, 0);
    for (size_t i = X; i <= Z; i++)
        node_sync(test, i, 1, 1);
    push = node_sent(test, PSD_MESSAGE_PUSH, 0);
    CHECK(push.message.which == 1 && push.message.count == 3);
    CHECK_NEAR(node_floats(&push)[5], 1, 0);
    node_end(test);
}

static void workers_of_one_subtree_are_added_at_once(void)
{
    struct node_test *test = member(1, 4, NULL);

    node_begin(test, 0);
    for (size_t i = X; i <= Z; i++) {
        node_sync(test, i, 2, 1);
        node_sync(test, i, 3, 4);
    }
    pushes(test, 0, 3, (const float[]){5, 5, 5, 5, 5, 5});
    node_end(test);
}

static void a_piece_has_sixty_four_parts_at_most(void)
{
    static char names[66][8];
    static struct node_param params[66];

    for (size_t i = 0; i < 66; i++) {
        snprintf(names[i], sizeof names[i], "p%zu", i);
        params[i] = (struct node_param){.name = names[i], .rows = 1, .cols = 1};
    }
    struct node_test *test = node_of(&(struct node_case){
        .rank = 1, .ranks = 2, .workers = 2, .params = params, .n_params = 66, .most = 1 << 16});
    CHECK(test->layout->n_pieces == 2 && test->layout->pieces[0].parts == 64);
    unsigned owner = test->layout->pieces[0].server;
    node_free(test);

    test = node_of(&(struct node_case){.rank = !owner,
                                       .ranks = 2,
                                       .workers = 2,
                                       .params = params,
                                       .n_params = 66,
                                       .most = 1 << 16});
    node_begin(test, 0);
    node_sync(test, 63, !owner, 1);
    psd_node_waits(test->node, 63); /* the last bit alone */
    CHECK(node_sent(test, PSD_MESSAGE_PUSH, owner).message.first == 63);
    for (size_t i = 0; i < 63; i++) {
        node_sync(test, i, !owner, 1);
        CHECK(node_sent(test, PSD_MESSAGE_PUSH, owner).message.first == i);
    }
    for (size_t i = 0; i < 64; i++) {
        struct psd_message value = run_of(test, PSD_MESSAGE_VALUE, owner, (uint32_t)i, 1, 0);
        node_hears(test, value, 2);
    }
    for (size_t i = 64; i < 66; i++)
        node_sync(test, i, !owner, 1);
    node_settle(test);
    node_begin(test, 1);
    for (size_t i = 0; i < 64; i++)
        node_sync(test, i, !owner, 1);
    CHECK(node_sent(test, PSD_MESSAGE_PUSH, owner).message.count == 64);
    node_end(test);
}

/* --- the owner -----------------------------------------------------------------------------------
 */

/* The owner's own workers sync these parameters; what is ready goes. */
static void own(struct node_test *test, size_t first, size_t count, float number)
{
    for (size_t i = first; i < first + count; i++)
        node_sync(test, i, 0, number);
    psd_node_waits(test->node, first);
}

static void parts_are_added_and_published_at_once(void)
{
    for (int first = 0; first < 2; first++) {
        struct node_test *test = member(0, 2, NULL);
        struct psd_message push = run_of(test, PSD_MESSAGE_PUSH, 1, 0, 3, 0);
        node_begin(test, 0);
        if (first == 0)
            node_deliver(test, push, (const float[]){1, 2, 3, 4, 5, 6});
        own(test, X, 3, 10);
        if (first == 1)
            node_deliver(test, push, (const float[]){1, 2, 3, 4, 5, 6});
        CHECK(test->n_works == 0);
        publishes(test, 0, 3, (const float[]){11, 12, 13, 14, 15, 16});
        CHECK_NEAR(test->values[X][1], 12, 0);
        CHECK_NEAR(test->values[Z][0], 16, 0);
        CHECK(test->fresh[X] == 1 && test->fresh[Y] == 1 && test->fresh[Z] == 1);
        node_end(test);
    }
}

static void parts_that_complete_one_by_one_are_published_so(void)
{
    struct node_test *test = member(0, 2, NULL);

    node_begin(test, 0);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, Y, 1, 0), 2);
    own(test, X, 1, 1);
    own(test, Y, 1, 1);
    publishes(test, Y, 1, (const float[]){3, 3});
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, Z, 1, 0), 5);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, X, 1, 0), 4);
    publishes(test, X, 1, (const float[]){5, 5, 5});
    own(test, Z, 1, 1);
    publishes(test, Z, 1, (const float[]){6});
    node_end(test);
}

static void what_one_event_completes_is_published_in_runs(void)
{
    struct node_test *test = member(0, 2, NULL);

    node_begin(test, 0);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, X, 1, 0), 1);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, Z, 1, 0), 3);
    for (size_t i = X; i <= Z; i++)
        node_sync(test, i, 0, 0);
    publishes(test, X, 1, (const float[]){1, 1, 1});
    publishes(test, Z, 1, (const float[]){3});
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, Y, 1, 0), 2);
    publishes(test, Y, 1, (const float[]){2, 2});
    node_end(test);
}

static void one_part_may_be_a_round_ahead_of_another(void)
{
    struct node_test *test = member(0, 2, NULL);

    node_begin(test, 0);
    own(test, X, 3, 0);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, X, 1, 0), 1);
    publishes(test, X, 1, (const float[]){1, 1, 1});
    node_begin(test, 1);
    own(test, X, 1, 0);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, X, 1, 1), 2);
    publishes(test, X, 1, (const float[]){2, 2, 2});
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, Y, 2, 0), 3);
    publishes(test, Y, 2, (const float[]){3, 3, 3});
    node_end(test);
}

static void the_rule_finds_the_state_of_each_part(void)
{
    struct node_test *test = node_of(&(struct node_case){.workers = 1,
                                                         .updates = true,
                                                         .update = {.momentum = 0.5f},
                                                         .params = xyz,
                                                         .n_params = 3,
                                                         .most = 1 << 16});

    for (uint64_t t = 0; t < 2; t++) {
        node_begin(test, t);
        for (size_t i = X; i <= Z; i++)
            node_sync(test, i, 0, (float)(i + 1));
    }
    node_has(test, X, -2.5f, 2); /* 1, and then 1 + 0.5 */
    node_has(test, Y, -5, 2);
    node_has(test, Z, -7.5f, 2);
    node_end(test);
}

/* --- what may not come ---------------------------------------------------------------------------
 */

static void runs_that_overlap_or_do_not_fit_are_refused(void)
{
    struct node_test *test = member(0, 2, NULL);
    static const struct node_twist twists[] = {
        NODE_TWIST(first, X, "piece 0 has no parts from 0, 4 of them"),
        NODE_TWIST(first, UINT32_MAX, "piece 0 has no parts from 4294967295, 4 of them"),
    };
    struct psd_message longest = run_of(test, PSD_MESSAGE_PUSH, 1, X, 3, 0);

    longest.count = 4;
    node_refuses_all(test, longest, twists, 2);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, Y, 1, 0), 2);
    for (uint32_t first = X; first <= Y; first++) {
        for (uint32_t end = Z; end <= 3; end++)
            node_refuses(test, run_of(test, PSD_MESSAGE_PUSH, 1, first, end - first, 0),
                         "out of turn");
    }
    struct psd_message run = run_of(test, PSD_MESSAGE_PUSH, 1, Y, 2, 0);
    run.length -= sizeof(float);
    node_refuses(test, run, "push of y has 8 bytes");
    node_begin(test, 0);
    own(test, X, 3, 0);
    publishes(test, Y, 1, (const float[]){2, 2});
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, Z, 1, 0), 3);
    node_hears(test, run_of(test, PSD_MESSAGE_PUSH, 1, X, 1, 0), 1);
    node_settle(test);
    node_has(test, X, 1, 1);
    node_end(test);
}

static void a_run_of_values_is_refused_when_one_is_not_awaited(void)
{
    struct node_test *test = member(1, 2, NULL);

    node_begin(test, 0);
    node_sync(test, X, 1, 1);
    node_sync(test, Z, 1, 1);
    psd_node_waits(test->node, X);
    node_settle(test);
    node_refuses(test, run_of(test, PSD_MESSAGE_VALUE, 0, X, 2, 0),
                 "a value of y that nobody waits for");
    node_refuses(test, run_of(test, PSD_MESSAGE_VALUE, 0, X, 3, 0), "a value of y");
    node_hears(test, run_of(test, PSD_MESSAGE_VALUE, 0, X, 1, 0), 1);
    node_refuses(test, run_of(test, PSD_MESSAGE_VALUE, 0, X, 1, 0), "a value of x");
    node_end(test);
}

/* Whole or in other runs: what of them is on its way does not come again. */
static void parts_that_are_coming_do_not_come_again(void)
{
    static const enum psd_message_kind kinds[] = {PSD_MESSAGE_PUSH, PSD_MESSAGE_VALUE};

    for (size_t i = 0; i < 2; i++) {
        unsigned rank = kinds[i] == PSD_MESSAGE_PUSH ? 0 : 1, from = !rank;
        struct node_test *test = member(rank, 2, NULL);
        struct psd_message run = run_of(test, kinds[i], from, X, 2, 0);
        struct psd_place place;
        node_begin(test, 0);
        for (size_t param = X; param <= Z; param++)
            node_sync(test, param, rank, 1);
        node_settle(test);
        psd_node_place(test->node, from, &run, &place);
        for (uint32_t first = X; first < Z; first++) {
            node_refuses(test, run_of(test, kinds[i], from, first, 1, 0), "");
            node_refuses(test, run_of(test, kinds[i], from, first, 3 - first, 0), "");
        }
        node_hears(test, run_of(test, kinds[i], from, Z, 1, 0), 1); /* which is another part */
        psd_node_arrived(test->node, &run);
        node_settle(test);
        CHECK(test->fresh[X] == 1 && test->fresh[Y] == 1 && test->fresh[Z] == 1);
        node_end(test);
    }
}

static void sizes_alone_go_the_same_way(void)
{
    for (unsigned rank = 0; rank < 2; rank++) {
        struct node_test *test = node_of(&(struct node_case){.rank = rank,
                                                             .ranks = 2,
                                                             .workers = 2,
                                                             .params = xyz,
                                                             .n_params = 3,
                                                             .most = 1 << 16,
                                                             .sizes_only = true});
        enum psd_message_kind kind = rank ? PSD_MESSAGE_VALUE : PSD_MESSAGE_PUSH;
        node_begin(test, 0);
        for (size_t i = X; i <= Z; i++)
            CHECK_OK(psd_node_sync(test->node, i, rank, NULL));
        if (rank == 1)
            CHECK(node_sent(test, PSD_MESSAGE_PUSH, 0).message.length == 24);
        node_deliver(test, run_of(test, kind, !rank, 0, 3, 0), NULL);
        if (rank == 0)
            CHECK(node_sent(test, PSD_MESSAGE_VALUE, 1).message.length == 24);
        CHECK(test->fresh[X] == 1 && test->fresh[Y] == 1 && test->fresh[Z] == 1);
        node_end(test);
    }
}

int main(int argc, char **argv)
{
    RUN(what_is_ready_together_travels_together)
    RUN(values_go_to_where_each_belongs)
    RUN(a_wait_lets_go_what_is_ready_and_the_rest_follows)
    RUN(while_somebody_waits_nothing_is_held_back)
    RUN(a_collective_lets_go_what_is_ready)
    RUN(a_wait_for_what_is_fresh_changes_nothing)
    RUN(each_input_has_parts_of_its_own)
    RUN(workers_of_one_subtree_are_added_at_once)
    RUN(a_piece_has_sixty_four_parts_at_most)
    RUN(parts_are_added_and_published_at_once)
    RUN(parts_that_complete_one_by_one_are_published_so)
    RUN(what_one_event_completes_is_published_in_runs)
    RUN(one_part_may_be_a_round_ahead_of_another)
    RUN(the_rule_finds_the_state_of_each_part)
    RUN(runs_that_overlap_or_do_not_fit_are_refused)
    RUN(a_run_of_values_is_refused_when_one_is_not_awaited)
    RUN(parts_that_are_coming_do_not_come_again)
    RUN(sizes_alone_go_the_same_way)
}
