/* state_test.c - what the rule keeps: where it is, who sends it when, and what is refused. */
#include "lone_node.h"

enum { RANKS = 3 };
enum { LARGE, SCALE, SHIFT, FC6, FC6_BIAS, FC7, FC7_BIAS, FC8, FC8_BIAS, COUNT };

/* Of each kind, large ones in several pieces. */
static const struct node_param params[COUNT] = {
    {.name = "conv", .rows = 1, .cols = 30000},
    {.name = "scale", .rows = 1, .cols = 7},
    {.name = "shift", .rows = 1, .cols = 9},
    {.name = "fc6", .rows = 90, .cols = 200, .route = PSD_ROUTE_BROADCAST},
    {.name = "fc6.bias", .rows = 1, .cols = 90, .bias_of = 1 + FC6},
    {.name = "fc7", .rows = 90, .cols = 200, .route = PSD_ROUTE_ROW_SHARDED},
    {.name = "fc7.bias", .rows = 1, .cols = 90, .bias_of = 1 + FC7},
    {.name = "fc8", .rows = 90, .cols = 200, .route = PSD_ROUTE_SINGLE_OWNER},
    {.name = "fc8.bias", .rows = 1, .cols = 90, .bias_of = 1 + FC8},
};

/* The hosts of workers 0, 1 and 2, so that each rank hosts worker 0 once. */
static const unsigned hosts[RANKS][RANKS] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};

/* `rank` of a job in which `collector` hosts worker 0. */
static struct node_case case_of(unsigned rank, unsigned collector)
{
    return (struct node_case){.rank = rank,
                              .ranks = RANKS,
                              .workers = RANKS,
                              .host = hosts[collector],
                              .updates = true,
                              .update = {.rule = "Adam"},
                              .params = params,
                              .n_params = COUNT,
                              .most = 1 << 14};
}

static struct node_test *member(unsigned rank, unsigned collector)
{
    struct node_case c = case_of(rank, collector);

    return node_of(&c);
}

static size_t count_of(const struct node_test *test, size_t param)
{
    return psd_job_count(&test->job->params[param]);
}

/* What everybody keeps together of a state of `param`; the caller frees it. */
static float *whole(const struct node_test *test, size_t param, unsigned kind)
{
    float *state = calloc(count_of(test, param), sizeof *state);

    for (size_t i = 0; i < count_of(test, param); i++)
        state[i] = (float)(i + 50000 * (2 * param + kind) + 1);
    return state;
}

/* It is loaded on every rank, each state of each parameter. */
static void load_all(struct node_test *test)
{
    for (size_t i = 0; i < 2 * test->job->n_params; i++) {
        float *state = whole(test, i / 2, i % 2);
        CHECK_OK(psd_node_load_state(test->node, i / 2, i % 2, state));
        free(state);
    }
}

static struct psd_message fetch_of(unsigned from, uint32_t param, uint32_t kind)
{
    return (struct psd_message){
        .kind = PSD_MESSAGE_FETCH, .from = from, .subject = param, .which = kind};
}

static struct psd_message state_of(const struct node_test *test, size_t part, uint32_t kind)
{
    return (struct psd_message){.kind = PSD_MESSAGE_STATE,
                                .from = psd_state_server(test->node, part),
                                .subject = (uint32_t)part,
                                .which = kind,
                                .length = test->layout->parts[part].count * sizeof(float)};
}

/* The first part of `param` that `rank` keeps. */
static size_t part_of(const struct node_test *test, size_t param, unsigned rank)
{
    size_t part = test->layout->params[param].first_part;

    while (psd_state_server(test->node, part) != rank)
        part++;
    CHECK(test->layout->parts[part].param == param);
    return part;
}

static bool is_broadcast(size_t param)
{
    return param == FC6 || param == FC6_BIAS;
}

/* --- at the host of worker 0 --------------------------------------------------------------------
 */

static void expect_fetches(struct node_test *test, size_t param, unsigned kind)
{
    for (unsigned i = 1; i < RANKS; i++) {
        unsigned to = (test->node->rank + i) % RANKS;
        if (!psd_state_is_kept(test->node, param, to))
            continue;
        struct psd_message fetch = node_sent(test, PSD_MESSAGE_FETCH, to).message;
        CHECK(fetch.subject == param && fetch.which == kind && fetch.length == 0);
    }
}

/* All others send what they keep, the last first. */
static void hear_parts(struct node_test *test, size_t param, unsigned kind, const float *state)
{
    const struct psd_layout_param *at = &test->layout->params[param];

    for (size_t part = at->first_part + at->pieces; part-- > at->first_part;) {
        if (psd_state_server(test->node, part) != test->node->rank)
            node_deliver(test, state_of(test, part, kind), state + test->layout->parts[part].first);
        CHECK(test->collected == 0);
    }
}

static void collect(struct node_test *test, size_t param, unsigned kind)
{
    float *state = whole(test, param, kind), *data = calloc(count_of(test, param), sizeof *data);
    size_t bytes = count_of(test, param) * sizeof *data;

    CHECK_OK(psd_node_save_state(test->node, param, kind, data));
    expect_fetches(test, param, kind);
    if (!is_broadcast(param))
        hear_parts(test, param, kind, state);
    node_work(test, PSD_WORK_COPY);
    CHECK(test->collected == 1 && node_same(data, state, bytes));
    test->collected = 0;
    free(data);
    free(state);
}

static void what_others_keep_lands_beside_what_is_kept_here(void)
{
    for (unsigned rank = 0; rank < RANKS; rank++) {
        struct node_test *test = member(rank, rank);
        load_all(test);
        for (size_t i = 0; i < (size_t)2 * COUNT; i++)
            collect(test, i / 2, i % 2);
        node_end(test);
    }
}

static void one_process_has_all_of_it(void)
{
    static const struct node_param local[] = {
        {.name = "conv", .rows = 1, .cols = 30000},
        {.name = "fc", .rows = 90, .cols = 200, .route = PSD_ROUTE_LOCAL},
        {.name = "fc.bias", .rows = 1, .cols = 90, .bias_of = 2}};
    struct node_test *test = node_of(&(struct node_case){
        .updates = true, .update = {.rule = "Adam"}, .params = local, .n_params = 3});

    load_all(test);
    for (size_t i = 0; i < (size_t)2 * 3; i++) {
        float *state = whole(test, i / 2, i % 2), *data = calloc(30000, sizeof *data);
        CHECK_OK(psd_node_save_state(test->node, i / 2, i % 2, data));
        node_work(test, PSD_WORK_COPY);
        CHECK(node_same(data, state, count_of(test, i / 2) * sizeof *data));
        free(data);
        free(state);
    }
    CHECK(test->collected == 6);
    node_end(test);
}

static void what_is_averaged_has_no_state(void)
{
    static const struct node_param both[] = {
        {.name = "conv", .rows = 1, .cols = 3},
        {.name = "mean", .rows = 1, .cols = 3, .averaged = true}};

    for (unsigned rank = 0; rank < 2; rank++) {
        struct node_test *test = node_of(&(struct node_case){.rank = rank,
                                                             .ranks = 2,
                                                             .workers = 2,
                                                             .updates = true,
                                                             .params = both,
                                                             .n_params = 2});
        float data[] = {1, 2, 3};
        CHECK_OK(psd_node_load_state(test->node, 1, 0, data));
        CHECK_OK(psd_node_save_state(test->node, 1, 0, data));
        if (rank == 0)
            node_work(test, PSD_WORK_COPY);
        CHECK(test->collected == 1);
        CHECK_NEAR(data[2], rank ? 3 : 0, 0);
        node_end(test);
    }
}

static void state_that_was_not_asked_for_is_refused(void)
{
    struct node_test *test = member(0, 0);
    size_t part = part_of(test, FC7, 1), other = part_of(test, FC7, 2);
    float *data = calloc(count_of(test, FC7), sizeof *data);
    const struct node_twist twists[] = {
        NODE_TWIST(from, 2, "rank 2 sends state that rank 0 has not asked for"),
        NODE_TWIST(iteration, 1, "has not asked for"),
        NODE_TWIST(subject, part_of(test, FC7, 0), "has not asked for"),
        NODE_TWIST(subject, part_of(test, LARGE, 1), "has not asked for"),
        NODE_TWIST(subject, test->layout->n_parts, "has not asked for"),
        NODE_TWIST(subject, UINT32_MAX, "has not asked for"),
        NODE_TWIST(which, 0, "has not asked for"),
        NODE_TWIST(which, UINT32_MAX, "has not asked for"),
        NODE_TWIST(length, 4, "has not asked for"),
    };

    node_refuses(test, state_of(test, part, 1), "rank 1 sends state that rank 0 has not asked for");
    CHECK_OK(psd_node_save_state(test->node, FC7, 1, data));
    node_settle(test);
    node_refuses_all(test, state_of(test, part, 1), twists, sizeof twists / sizeof *twists);
    node_hears(test, state_of(test, part, 1), 5);
    node_refuses(test, state_of(test, part, 1), "has not asked for"); /* twice */
    struct psd_message half = state_of(test, other, 1);
    struct psd_place place;
    psd_node_place(test->node, 2, &half, &place);
    node_refuses(test, half, "has not asked for"); /* it is on its way */
    node_refuses(test, fetch_of(1, FC7, 1),
                 "rank 1 fetches state that rank 0 does not keep for it");
    CHECK_NEAR(data[test->layout->parts[part].first], 5, 0);
    node_free(test);
    free(data);
}

/* --- elsewhere ----------------------------------------------------------------------------------
 */

/* What goes: every part that is kept here, from where it is kept. */
static void expect_parts(struct node_test *test, unsigned collector, size_t param, unsigned kind)
{
    const struct psd_layout_param *at = &test->layout->params[param];
    float *state = whole(test, param, kind);

    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        const struct psd_part *p = &test->layout->parts[part];
        if (psd_state_server(test->node, part) != test->node->rank)
            continue;
        CHECK(test->collected == 0);
        struct psd_send sent = node_sent(test, PSD_MESSAGE_STATE, collector);
        CHECK(sent.message.subject == part && sent.message.which == kind);
        CHECK(sent.message.length == p->count * sizeof(float));
        CHECK(node_same(node_floats(&sent), state + p->first, sent.message.length));
    }
    CHECK(test->collected == 1);
    test->collected = 0;
    free(state);
}

static void parts_go_when_both_have_called(void)
{
    for (unsigned i = 0; i < RANKS * (RANKS - 1) * 2; i++) {
        unsigned collector = i % RANKS, rank = (collector + 1 + i / RANKS % 2) % RANKS;
        bool is_early = i / (RANKS * (RANKS - 1));
        struct node_test *test = member(rank, collector);
        load_all(test);
        for (uint32_t param = 0; param < COUNT; param++) {
            if (!psd_state_is_kept(test->node, param, rank))
                continue;
            if (is_early)
                node_deliver(test, fetch_of(collector, param, 1), NULL);
            node_is_quiet(test);
            CHECK_OK(psd_node_save_state(test->node, param, 1, NULL));
            if (!is_early)
                node_deliver(test, fetch_of(collector, param, 1), NULL);
            expect_parts(test, collector, param, 1);
        }
        node_end(test);
    }
}

static void who_has_nothing_to_give_does_not_wait(void)
{
    unsigned waited = 0;

    for (unsigned rank = 1; rank < RANKS; rank++) {
        struct node_test *test = member(rank, 0);
        for (size_t param = 0; param < COUNT; param++) {
            if (psd_state_is_kept(test->node, param, rank)) {
                waited++;
                continue;
            }
            CHECK_OK(psd_node_save_state(test->node, param, 0, NULL));
            CHECK(test->collected-- == 1);
        }
        node_end(test);
    }
    CHECK(waited > 0 && waited < 2 * COUNT);
}

/* The host of worker 0 may have all of the first before we hear that the last part has left. */
static void the_next_fetch_may_come_before_the_last_part_is_reported_sent(void)
{
    struct node_test *test = member(1, 0);

    load_all(test);
    CHECK_OK(psd_node_save_state(test->node, FC7_BIAS, 0, NULL));
    node_deliver(test, fetch_of(0, FC7_BIAS, 0), NULL);
    node_deliver(test, fetch_of(0, FC7_BIAS, 1), NULL);
    expect_parts(test, 0, FC7_BIAS, 0);
    node_is_quiet(test);
    CHECK_OK(psd_node_save_state(test->node, FC7_BIAS, 1, NULL));
    expect_parts(test, 0, FC7_BIAS, 1);
    node_end(test);
}

static void strange_fetches_are_refused(void)
{
    struct node_test *test = member(1, 0);
    const struct node_twist twists[] = {
        NODE_TWIST(from, 2, "rank 2 fetches state that rank 1 does not keep for it"),
        NODE_TWIST(length, 4, "does not keep for it"),
        NODE_TWIST(subject, COUNT, "does not keep for it"),
        NODE_TWIST(subject, UINT32_MAX, "does not keep for it"),
        NODE_TWIST(subject, FC6, "does not keep for it"), /* everybody has all of it */
        NODE_TWIST(which, 2, "does not keep for it"),
    };

    node_refuses_all(test, fetch_of(0, FC7, 1), twists, sizeof twists / sizeof *twists);
    node_deliver(test, fetch_of(0, FC7, 1), NULL);
    node_refuses(test, fetch_of(0, FC7, 1), "does not keep for it"); /* one at a time */
    node_refuses(test, state_of(test, part_of(test, FC7, 2), 1), "has not asked for");
    node_end(test);
}

/* --- in which order -----------------------------------------------------------------------------
 */

static void another_call_than_that_of_the_collector_is_named(void)
{
    static const struct {
        uint32_t param, kind;
        uint64_t iteration;
        const char *sentence;
    } cases[] = {
        {FC7, 0, 0,
         "rank 1 saves state 1 of fc7 after iteration 0 where rank 0 saves state 0 of fc7 after 0: "
         "all ranks make the same calls in the same order"},
        {FC7_BIAS, 1, 0,
         "rank 1 saves state 1 of fc7 after iteration 0 where rank 0 saves state 1 of fc7.bias "
         "after 0: all ranks make the same calls in the same order"},
        {FC7, 1, 3,
         "rank 1 saves state 1 of fc7 after iteration 0 where rank 0 saves state 1 of fc7 after 3: "
         "all ranks make the same calls in the same order"},
    };

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct node_test *test = member(1, 0);
        struct psd_message fetch = fetch_of(0, cases[i / 2].param, cases[i / 2].kind);
        fetch.iteration = cases[i / 2].iteration;
        if (i % 2)
            node_deliver(test, fetch, NULL);
        CHECK_STATUS(i % 2 ? PSD_EPEER : PSD_OK, psd_node_save_state(test->node, FC7, 1, NULL));
        if (i % 2 == 0) {
            struct psd_place place;
            psd_node_place(test->node, 0, &fetch, &place);
            psd_node_arrived(test->node, &fetch);
        }
        node_ends(test, PSD_EPEER, cases[i / 2].sentence);
        node_free(test);
    }
}

/* Two small parameters, the second of which this rank owns. */
static struct node_test *small(unsigned rank)
{
    return node_of(&(struct node_case){.rank = rank, .ranks = 2, .workers = 2, .updates = true});
}

static void refuses_to_save(struct node_test *test, const char *sentence)
{
    float data[3];
    uint64_t before = node_sum(test);

    CHECK_STATUS(PSD_EINVAL, psd_node_save_state(test->node, FC, 0, data));
    CHECK_TEXT(sentence, psd_error());
    CHECK(node_sum(test) == before);
}

static void state_is_saved_when_all_values_have_come(void)
{
    struct node_test *test = small(0);
    float data[3];

    node_begin(test, 4);
    refuses_to_save(test, "state is saved in iteration 4 before conv is synced: save it after the "
                          "last wait of an iteration and before the next begin");
    node_sync(test, CONV, 0, 1);
    refuses_to_save(test, "state is saved in iteration 4 before fc is synced: save it after the "
                          "last wait of an iteration and before the next begin");
    node_sync(test, FC, 0, 1);
    refuses_to_save(test,
                    "state is saved before the value of conv of iteration 4 has come; wait for "
                    "it first");
    node_settle(test);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 4), 1);
    refuses_to_save(test, "state is saved before the value of fc of iteration 4 has come; wait for "
                          "it first");
    node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 1, FC, 1, 4), 1);
    node_settle(test);
    CHECK_OK(psd_node_save_state(test->node, FC, 0, data));
    refuses_to_save(test, "another thread is in a reduce, barrier, broadcast or save of state");
    node_settle(test);
    CHECK(test->collected == 1);
    CHECK_NEAR(data[2], 1, 0); /* the mean of the gradients, times the rate of 1 */
    node_end(test);
}

static void a_long_save_says_who_is_missing(void)
{
    struct node_test *test = small(0);
    float data[3];

    CHECK_OK(psd_node_save_state(test->node, CONV, 0, data));
    psd_node_overdue(test->node, PSD_NODE_ALL);
    CHECK_TEXT("rank 0 waits in a save of the state of conv: rank 1 is not there", test->warning);
    node_hears(test, state_of(test, CONV, 0), 1);
    psd_node_overdue(test->node, PSD_NODE_ALL);
    CHECK_TEXT("rank 0 saves the state of conv: its own part is on its way", test->warning);
    node_settle(test);
    node_end(test);

    test = small(1);
    CHECK_OK(psd_node_save_state(test->node, CONV, 0, NULL));
    psd_node_overdue(test->node, PSD_NODE_ALL);
    CHECK_TEXT("rank 1 waits in a save of the state of conv: rank 0 is not there", test->warning);
    node_deliver(test, fetch_of(0, CONV, 0), NULL);
    psd_node_overdue(test->node, PSD_NODE_ALL);
    CHECK_TEXT("rank 1 saves the state of conv: its own part is on its way", test->warning);
    node_settle(test);
    node_end(test);
}

/* --- members that leave -------------------------------------------------------------------------
 */

static struct psd_message leave_of(unsigned from, uint32_t saves)
{
    return (struct psd_message){.kind = PSD_MESSAGE_LEAVE, .from = from, .which = saves};
}

static void nobody_saves_with_who_has_left(void)
{
    static const char *const sentences[] = {
        "rank 1 has closed its seat, and rank 0 waits in a save of state: all ranks make the same "
        "calls",
        "rank 0 has closed its seat, and rank 1 waits in a save of state: all ranks make the same "
        "calls"};

    for (unsigned i = 0; i < 4; i++) {
        struct node_test *test = small(i % 2);
        float data[3];
        if (i / 2)
            node_deliver(test, leave_of(1 - i % 2, 0), NULL);
        CHECK_STATUS(i / 2 ? PSD_EPEER : PSD_OK, psd_node_save_state(test->node, CONV, 0, data));
        while (test->n_sends && test->sends[0]->message.kind == PSD_MESSAGE_FETCH)
            node_sent(test, PSD_MESSAGE_FETCH, 1);
        if (i / 2 == 0)
            node_deliver(test, leave_of(1 - i % 2, 0), NULL);
        node_ends(test, PSD_EPEER, sentences[i % 2]);
        node_free(test);
    }
}

static void leaving_says_how_often_was_saved(void)
{
    struct node_test *test = small(1);

    CHECK_OK(psd_node_save_state(test->node, FC, 0, NULL));
    psd_node_leave(test->node);
    CHECK(node_sent(test, PSD_MESSAGE_LEAVE, 0).message.which == 1);
    node_end(test);
}

static void a_part_that_is_lost_with_its_keeper_ends_the_job(void)
{
    struct node_test *test = small(0);
    struct psd_message part = state_of(test, CONV, 0);
    struct psd_place place;
    float data[3];

    CHECK_OK(psd_node_save_state(test->node, CONV, 0, data));
    node_settle(test);
    node_deliver(test, leave_of(1, 1), NULL);
    psd_node_place(test->node, 1, &part, &place);
    psd_node_lost(test->node, 1, "broken pipe");
    CHECK_TEXT("rank 1 has closed its seat, and what rank 0 waits for in a save of state is lost: "
               "broken pipe",
               test->sentence);
    node_free(test);
}

/* The collector has it all, and we never hear that the part has left. */
static void a_part_to_a_collector_that_is_gone_has_left(void)
{
    struct node_test *test = small(1);

    CHECK_OK(psd_node_save_state(test->node, CONV, 0, NULL));
    node_deliver(test, fetch_of(0, CONV, 0), NULL);
    node_sends(test, PSD_MESSAGE_STATE, 0);
    node_deliver(test, leave_of(0, 1), NULL);
    psd_node_lost(test->node, 0, "it has gone");
    CHECK(test->collected == 1);
    node_end(test);
}

/* --- memory -------------------------------------------------------------------------------------
 */

static void sizes_alone_are_saved_without_memory(void)
{
    struct node_case c = case_of(0, 0);
    c.sizes_only = true;
    struct node_test *test = node_of(&c);

    CHECK_OK(psd_node_save_state(test->node, FC7, 0, NULL));
    node_settle(test);
    for (size_t part = test->layout->params[FC7].first_part; test->collected == 0; part++) {
        struct psd_message message = state_of(test, part, 0);
        struct psd_place place;
        if (message.from == 0)
            continue;
        psd_node_place(test->node, message.from, &message, &place);
        CHECK(!place.spans[0].data && place.spans[0].bytes == message.length);
        psd_node_arrived(test->node, &message);
    }
    node_end(test);
}

static void a_save_without_memory_ends_the_job(void)
{
    struct node_test *test = small(0);
    float data[3];

    psd_alloc_fail_at(0);
    psd_status status = psd_node_save_state(test->node, CONV, 0, data);
    CHECK(psd_alloc_fail_at(-1));
    CHECK_STATUS(PSD_ENOMEM, status);
    CHECK(test->ended == 1 && test->status == PSD_ENOMEM && test->n_works == 0);
    node_free(test);
}

int main(int argc, char **argv)
{
    RUN(what_others_keep_lands_beside_what_is_kept_here)
    RUN(one_process_has_all_of_it)
    RUN(what_is_averaged_has_no_state)
    RUN(state_that_was_not_asked_for_is_refused)
    RUN(parts_go_when_both_have_called)
    RUN(who_has_nothing_to_give_does_not_wait)
    RUN(the_next_fetch_may_come_before_the_last_part_is_reported_sent)
    RUN(strange_fetches_are_refused)
    RUN(another_call_than_that_of_the_collector_is_named)
    RUN(state_is_saved_when_all_values_have_come)
    RUN(a_long_save_says_who_is_missing)
    RUN(nobody_saves_with_who_has_left)
    RUN(leaving_says_how_often_was_saved)
    RUN(a_part_that_is_lost_with_its_keeper_ends_the_job)
    RUN(a_part_to_a_collector_that_is_gone_has_left)
    RUN(sizes_alone_are_saved_without_memory)
    RUN(a_save_without_memory_ends_the_job)
}
