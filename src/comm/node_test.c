/* node_test.c - a node as a whole: made, started, begun and ended; and messages for no part of it. */
#include "lone_node.h"

static struct node_test *member(unsigned rank)
{
    return node_of(&(struct node_case){.rank = rank, .ranks = 3, .workers = 3});
}

static struct psd_message end_of(unsigned from, const char *sentence)
{
    return (struct psd_message){.kind = PSD_MESSAGE_END,
                                .from = from,
                                .which = (uint32_t)-PSD_EPEER,
                                .length = strlen(sentence)};
}

/* --- made ----------------------------------------------------------------------------------------
 */

/* Every part of a node has something to do. */
static const struct node_param everything[] = {
    {.name = "conv", .rows = 1, .cols = 5000},
    {.name = "scale", .rows = 1, .cols = 7},
    {.name = "shift", .rows = 1, .cols = 7},
    {.name = "fc6", .rows = 40, .cols = 3, .route = PSD_ROUTE_BROADCAST},
    {.name = "fc6.bias", .rows = 1, .cols = 40, .bias_of = 4},
    {.name = "fc7", .rows = 40, .cols = 3, .route = PSD_ROUTE_ROW_SHARDED},
    {.name = "fc7.bias", .rows = 1, .cols = 40, .bias_of = 6},
    {.name = "fc8", .rows = 40, .cols = 3, .route = PSD_ROUTE_SINGLE_OWNER},
};

static struct node_case case_of_everything(unsigned rank)
{
    return (struct node_case){.rank = rank,
                              .ranks = 2,
                              .workers = 5,
                              .updates = true,
                              .update = {.momentum = 0.9f, .clip = 1},
                              .params = everything,
                              .n_params = sizeof everything / sizeof *everything,
                              .most = 1 << 14};
}

static void create_survives_every_failed_allocation(void)
{
    for (unsigned rank = 0; rank < 2; rank++) {
        struct node_case c = case_of_everything(rank);
        struct psd_node_options options;
        struct node_test *test = node_prepare(&c, &options);
        bool failed = true;
        for (long n = 0; failed; n++) {
            struct psd_node *node = NULL;
            psd_alloc_fail_at(n);
            psd_status status = psd_node_create(&options, &node);
            failed = psd_alloc_fail_at(-1);
            CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
            CHECK(failed == (node == NULL));
            psd_node_destroy(node);
        }
        node_free(test);
    }
}

static void a_rank_without_workers_has_no_node(void)
{
    static const unsigned host[] = {0, 2};
    struct node_case c = {.rank = 1, .ranks = 3, .workers = 2, .host = host};
    struct psd_node_options options;
    struct node_test *test = node_prepare(&c, &options);

    CHECK_STATUS(PSD_EINVAL, psd_node_create(&options, &test->node));
    CHECK_TEXT("rank 1 hosts no worker: let the job have fewer processes or more workers",
               psd_error());
    node_free(test);
}

static void sizes_alone_count_the_same_memory(void)
{
    struct node_case c = case_of_everything(0);
    struct node_test *real = node_of(&c);

    c.sizes_only = true;
    struct node_test *sizes = node_of(&c);
    CHECK(psd_node_memory(real->node) == psd_node_memory(sizes->node));
    CHECK(psd_node_memory(real->node) > 5000 * sizeof(float));
    node_end(real);
    node_end(sizes);
}

/* --- started -------------------------------------------------------------------------------------
 */

static struct psd_message initial_of(const struct node_test *test, unsigned from, uint32_t piece)
{
    return node_message(test, PSD_MESSAGE_INITIAL, from, piece, 0, 0);
}

static struct node_test *unstarted(unsigned rank, bool updates)
{
    return node_unstarted(
        &(struct node_case){.rank = rank, .ranks = 3, .workers = 3, .updates = updates});
}

static void sums_need_no_initial_values(void)
{
    struct node_test *test = unstarted(1, false);

    CHECK_OK(psd_node_start(test->node, false));
    CHECK(test->fresh[CONV] == 1 && test->fresh[FC] == 1);
    node_end(test);
}

static void values_that_are_equal_are_not_spread(void)
{
    struct node_test *test = unstarted(0, true);

    CHECK_OK(psd_node_start(test->node, true));
    CHECK(test->fresh[CONV] == 1 && test->fresh[FC] == 1);
    node_end(test);
}

static void the_host_of_worker_0_gives_its_values_to_their_owners(void)
{
    struct node_test *test = unstarted(0, true);

    test->values[CONV][2] = 5;
    CHECK_OK(psd_node_start(test->node, false));
    CHECK(test->fresh[CONV] == 1 && test->fresh[FC] == 1);
    struct psd_send conv = node_sent(test, PSD_MESSAGE_INITIAL, 1);
    CHECK(conv.message.subject == CONV && conv.message.count == 1 && conv.message.length == 12);
    CHECK_NEAR(node_floats(&conv)[2], 5, 0);
    CHECK(node_sent(test, PSD_MESSAGE_INITIAL, 1).message.subject == FC); /* which it owns */
    CHECK(node_sent(test, PSD_MESSAGE_INITIAL, 2).message.subject == FC);
    node_end(test);
}

static void an_owner_passes_initial_values_on(void)
{
    struct node_test *test = unstarted(1, true);

    CHECK_OK(psd_node_start(test->node, false));
    CHECK(test->fresh[CONV] == 0 && test->fresh[FC] == 0);
    node_hears(test, initial_of(test, 0, CONV), 5);
    CHECK(node_sent(test, PSD_MESSAGE_INITIAL, 2).message.subject == CONV);
    node_has(test, CONV, 5, 1);
    node_hears(test, initial_of(test, 0, FC), 6);
    node_has(test, FC, 6, 1);
    node_end(test);
}

static void others_get_initial_values_from_the_owners(void)
{
    struct node_test *test = unstarted(2, true);

    CHECK_OK(psd_node_start(test->node, false));
    node_refuses(test, initial_of(test, 0, CONV), "piece 0 is not rank 0's");
    node_refuses(test, initial_of(test, 1, FC), "piece 1 is not rank 1's");
    node_hears(test, initial_of(test, 0, FC), 6);
    node_refuses(test, initial_of(test, 0, FC), "a value of fc that nobody waits for");
    node_hears(test, initial_of(test, 1, CONV), 5);
    node_has(test, CONV, 5, 1);
    node_has(test, FC, 6, 1);
    node_end(test);
}

static void initial_values_come_only_where_they_are_spread(void)
{
    static const struct {
        bool updates, started, equal;
    } cases[] = {
        {true, false, false}, {true, true, true}, {false, false, false}, {false, true, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_test *test = unstarted(2, cases[i].updates);
        if (cases[i].started)
            CHECK_OK(psd_node_start(test->node, cases[i].equal));
        node_refuses(test, initial_of(test, 0, FC), "a value of fc that nobody waits for");
        if (!cases[i].started)
            CHECK_OK(psd_node_start(test->node, true));
        CHECK(test->fresh[FC] == 1);
        node_end(test);
    }
}

/* At their owner, from the host of worker 0, and at others. */
static void initial_values_that_are_coming_do_not_come_again(void)
{
    for (unsigned rank = 1; rank < 3; rank++) {
        struct node_test *test = unstarted(rank, true);
        struct psd_message initial = initial_of(test, rank == 1 ? 0 : 1, CONV);
        struct psd_place place;
        CHECK_OK(psd_node_start(test->node, false));
        psd_node_place(test->node, initial.from, &initial, &place);
        node_refuses(test, initial, "a value of conv that nobody waits for"); /* it is coming, */
        node_move((const float[]){5, 5, 5}, &initial, &place);
        psd_node_arrived(test->node, &initial);
        node_refuses(test, initial, "a value of conv that nobody waits for"); /* and here */
        node_settle(test);
        node_has(test, CONV, 5, 1);
        node_end(test);
    }
}

static void small_parameters_are_spread_in_their_piece(void)
{
    static const struct node_param xy[] = {{.name = "x", .rows = 1, .cols = 2},
                                           {.name = "y", .rows = 1, .cols = 1}};
    static const unsigned host[] = {1, 0, 2};
    struct node_case c = {.ranks = 3,
                          .workers = 3,
                          .host = host,
                          .updates = true,
                          .params = xy,
                          .n_params = 2,
                          .most = 1 << 16};

    c.rank = 1;
    struct node_test *test = node_unstarted(&c);
    test->values[0][1] = 4;
    test->values[1][0] = 5;
    CHECK_OK(psd_node_start(test->node, false));
    struct psd_send initial = node_sent(test, PSD_MESSAGE_INITIAL, 0);
    CHECK(initial.message.count == 2 && initial.message.length == 12);
    CHECK(node_same(node_floats(&initial), (const float[]){0, 4, 5}, 12));
    node_end(test);

    c.rank = 0;
    test = node_unstarted(&c);
    CHECK_OK(psd_node_start(test->node, false));
    node_deliver(test, initial_of(test, 1, 0), (const float[]){0, 4, 5});
    initial = node_sent(test, PSD_MESSAGE_INITIAL, 2);
    CHECK(node_same(node_floats(&initial), (const float[]){0, 4, 5}, 12));
    CHECK_NEAR(test->values[0][1], 4, 0);
    node_has(test, 1, 5, 1);
    node_end(test);
}

/* --- begun ---------------------------------------------------------------------------------------
 */

static void iterations_follow_each_other(void)
{
    struct node_test *test = node_of(&(struct node_case){.workers = 1});
    struct psd_comm_counters counters;

    for (uint64_t t = 41; t < 44; t++) {
        node_begin(test, t);
        for (size_t i = CONV; i <= FC; i++)
            node_sync(test, i, 0, 1);
        node_settle(test);
        CHECK_STATUS(PSD_EINVAL, psd_node_begin(test->node, t, 1));
        CHECK_STATUS(PSD_EINVAL, psd_node_begin(test->node, t + 2, 1));
    }
    CHECK_TEXT("iteration 45 does not follow iteration 43", psd_error());
    psd_node_count(test->node, &counters);
    CHECK(counters.iterations == 3);
    node_end(test);
}

static void an_iteration_with_a_missing_sync_ends_the_job(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 4});

    node_begin(test, 2);
    node_sync(test, CONV, 0, 1);
    node_sync(test, CONV, 1, 1);
    node_sync(test, FC, 1, 1);
    node_settle(test);
    CHECK_STATUS(PSD_EINVAL, psd_node_begin(test->node, 3, 1));
    static const char sentence[] = "rank 0 has not synced fc in iteration 2; every worker syncs "
                                   "every parameter once";
    CHECK_TEXT(sentence, psd_error());
    node_ends(test, PSD_EPEER, sentence);
    node_free(test);
}

static void an_iteration_without_any_sync_is_no_iteration(void)
{
    struct node_test *test = member(0);

    node_begin(test, 2);
    CHECK_STATUS(PSD_EINVAL, psd_node_begin(test->node, 3, 1));
    node_ends(test, PSD_EPEER,
              "rank 0 has not synced conv in iteration 2; every worker syncs every parameter once");
    node_free(test);
}

/* --- ended ---------------------------------------------------------------------------------------
 */

static void an_end_is_told_to_all_once(void)
{
    struct node_test *test = member(1);

    psd_node_end(test->node, PSD_EDEVICE, "the device is on fire");
    node_ends(test, PSD_EDEVICE, "the device is on fire");
    psd_node_end(test->node, PSD_EPEER, "again");
    node_is_quiet(test);
    CHECK(test->ended == 1 && !psd_node_busy(test->node));
    node_free(test);
}

static void an_end_that_is_heard_is_passed_on(void)
{
    struct node_test *test = member(1);

    node_deliver(test, end_of(2, "rank 2 is tired"), "rank 2 is tired");
    node_ends(test, PSD_EPEER, "rank 2 is tired");
    node_free(test);
}

static void a_flood_of_ends_is_one_end(void)
{
    struct node_test *test = member(1);

    for (unsigned i = 0; i < 1000; i++) {
        unsigned from = i % 2 ? 0 : 2;
        node_deliver(test, end_of(from, "rank 2 is tired"), "rank 2 is tired");
    }
    node_ends(test, PSD_EPEER, "rank 2 is tired");
    node_is_quiet(test);
    CHECK(test->ended == 1);
    node_free(test);
}

/* Each has a place, so the one that stays half there holds nothing up. */
static void of_two_ends_at_once_the_first_whole_one_is_heard(void)
{
    for (int turn = 0; turn < 2; turn++) {
        struct node_test *test = member(1);
        const char *words[] = {"rank 2 is tired", "so am I"};
        struct psd_message ends[] = {end_of(2, words[0]), end_of(0, words[1])};
        struct psd_place places[2];
        for (int i = 0; i < 2; i++)
            psd_node_place(test->node, ends[i].from, &ends[i], &places[i]);
        for (int i = turn, n = 0; n < 2; i = !i, n++) {
            CHECK(test->ended == (unsigned)n);
            node_move(words[i], &ends[i], &places[i]);
            psd_node_arrived(test->node, &ends[i]);
        }
        node_ends(test, PSD_EPEER, words[turn]);
        node_free(test);
    }
}

static void an_end_that_is_coming_does_not_come_again(void)
{
    struct node_test *test = member(1);
    struct psd_message end = end_of(2, "rank 2 is tired");
    struct psd_place place;

    psd_node_place(test->node, 2, &end, &place);
    node_refuses(test, end, "rank 2 ends the job twice");
    node_move("rank 2 is tired", &end, &place);
    psd_node_arrived(test->node, &end);
    node_ends(test, PSD_EPEER, "rank 2 is tired");
    node_free(test);
}

static void who_breaks_off_in_its_last_sentence_is_lost(void)
{
    struct node_test *test = member(1);
    struct psd_message end = end_of(2, "rank 2 is tired");
    struct psd_place place;

    psd_node_place(test->node, 2, &end, &place);
    psd_node_lost(test->node, 2, "connection reset");
    CHECK_TEXT("rank 2 is lost: connection reset", test->sentence);
    CHECK(test->ended == 1);
    node_sent(test, PSD_MESSAGE_END, 0);
    node_is_quiet(test);
    node_free(test);
}

static void who_was_not_in_time_is_told_so_and_all_else_is_another_s_mistake(void)
{
    static const struct {
        uint32_t which;
        psd_status status;
    } cases[] = {
        {(uint32_t)-PSD_ETIMEOUT, PSD_ETIMEOUT},
        {(uint32_t)-PSD_EPEER, PSD_EPEER},
        {(uint32_t)-PSD_ENOMEM, PSD_EPEER},
        {(uint32_t)-PSD_EDEVICE, PSD_EPEER},
        {PSD_OK, PSD_EPEER},
        {UINT32_MAX, PSD_EPEER},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_test *test = member(1);
        struct psd_message end = end_of(2, "enough");
        end.which = cases[i].which;
        node_deliver(test, end, "enough");
        node_ends(test, cases[i].status, "enough");
        node_free(test);
    }
}

static void an_end_that_there_is_no_memory_for_is_one_all_the_same(void)
{
    struct node_test *test = member(1);
    struct psd_message end = end_of(2, "rank 2 is tired");
    struct psd_place place;

    psd_alloc_fail_at(0);
    psd_node_place(test->node, 2, &end, &place);
    CHECK(psd_alloc_fail_at(-1) && !place.spans[0].data);
    node_ends(test, PSD_ENOMEM, "rank 1 is out of memory");
    node_free(test);
}

static void the_longest_sentence_is_heard_and_a_longer_one_refused(void)
{
    struct node_test *test = member(1);
    char sentence[2049];

    memset(sentence, 'a', sizeof sentence);
    struct psd_message end = end_of(0, "");
    end.length = 2049;
    node_refuses(test, end, "rank 0 ends the job with too many words");
    end.length = UINT64_MAX;
    node_refuses(test, end, "rank 0 ends the job with too many words");
    end.length = 2048;
    node_deliver(test, end, sentence);
    CHECK(test->ended == 1 && strlen(test->sentence) == 2048);
    node_settle(test);
    node_free(test);
}

static void an_end_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct node_test *test = member(0);
        psd_alloc_fail_at(n);
        psd_node_end(test->node, PSD_EDEVICE, "the device is on fire");
        failed = psd_alloc_fail_at(-1);
        CHECK(test->ended == 1 && test->status == PSD_EDEVICE);
        CHECK_TEXT("the device is on fire", test->sentence);
        CHECK(test->n_sends == (failed ? 1 : 2)); /* one of the others is not told */
        node_settle(test);
        node_free(test);
    }
}

static void after_the_end_calls_are_refused_and_messages_dropped(void)
{
    struct node_test *test = member(0);
    struct psd_message push = node_message(test, PSD_MESSAGE_PUSH, 1, FC, 1, 0);
    struct psd_place place;

    node_begin(test, 0);
    node_sync(test, FC, 0, 1);
    node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 1, FC, 1, 0), 1);
    node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 2, FC, 2, 0), 1);
    psd_node_end(test->node, PSD_EPEER, "enough");
    node_ends(test, PSD_EPEER, "enough");
    CHECK(psd_node_busy(test->node));
    node_work(test, PSD_WORK_UPDATE); /* which nobody is told of */
    CHECK(!psd_node_busy(test->node) && test->fresh[FC] == 0);
    CHECK_STATUS(PSD_EPEER, node_try_sync(test, CONV, 0, 1));
    CHECK_STATUS(PSD_EPEER, psd_node_sync_factors(test->node, CONV, 0, 1));
    CHECK_STATUS(PSD_EPEER, psd_node_begin(test->node, 1, 1));
    CHECK_TEXT("the job has ended", psd_error());
    push.from = 7; /* whatever it is */
    psd_node_place(test->node, 1, &push, &place);
    CHECK(!place.spans[0].data && place.spans[0].bytes == push.length && !place.spans[1].bytes);
    psd_node_arrived(test->node, &push);
    psd_node_lost(test->node, 1, "it has gone");
    psd_node_leave(test->node);
    node_is_quiet(test);
    CHECK(test->ended == 1);
    node_free(test);
}

static void a_lost_member_ends_the_job(void)
{
    struct node_test *test = member(0);

    node_begin(test, 0);
    node_sync(test, CONV, 0, 1);
    CHECK(node_sends(test, PSD_MESSAGE_PUSH, 1)); /* never to be sent */
    psd_node_lost(test->node, 1, "connection reset");
    CHECK(test->ended == 1 && test->status == PSD_EPEER);
    CHECK_TEXT("rank 1 is lost: connection reset", test->sentence);
    node_sent(test, PSD_MESSAGE_END, 2);
    node_is_quiet(test);
    CHECK(!psd_node_busy(test->node));
    psd_node_lost(test->node, 2, "connection reset");
    CHECK(test->ended == 1);
    node_free(test);
}

/* --- messages for no part ------------------------------------------------------------------------
 */

static void nobody_speaks_in_another_s_name(void)
{
    struct node_test *test = member(0);
    struct psd_message end = end_of(2, "");
    struct psd_place place;

    psd_node_place(test->node, 1, &end, &place);
    node_ends(test, PSD_EPEER, "end of rank 2 comes from rank 1");
    node_free(test);
}

static void what_may_not_come_ends_the_job_and_goes_nowhere(void)
{
    struct node_test *test = member(0);
    struct psd_message push = node_message(test, PSD_MESSAGE_PUSH, 1, FC, 2, 0);
    struct psd_place place;

    psd_node_place(test->node, 1, &push, &place);
    CHECK(!place.spans[0].data && place.spans[0].bytes == 12 && !place.spans[1].bytes);
    node_ends(test, PSD_EPEER, "input 2 is not rank 1's");
    psd_node_arrived(test->node, &push);
    node_is_quiet(test);
    node_free(test);
}

static void messages_of_joining_do_not_belong_into_a_running_job(void)
{
    static const enum psd_message_kind kinds[] = {
        PSD_MESSAGE_HELLO, PSD_MESSAGE_JOIN,  PSD_MESSAGE_ROSTER,        PSD_MESSAGE_PARAMS,
        PSD_MESSAGE_PLAN,  PSD_MESSAGE_KINDS, (enum psd_message_kind)255};
    struct node_test *test = member(0);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        node_refuses(test, (struct psd_message){.kind = kinds[i], .from = 1},
                     "does not belong into a running job");
    node_end(test);
}

static void what_has_no_payload_comes_without(void)
{
    static const struct {
        enum psd_message_kind kind;
        const char *words;
    } cases[] = {{PSD_MESSAGE_WHO, "who has no payload"},
                 {PSD_MESSAGE_MISSING, "missing has no payload"},
                 {PSD_MESSAGE_LEAVE, "leave has no payload"}};
    struct node_test *test = member(0);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        node_refuses(test, (struct psd_message){.kind = cases[i].kind, .from = 1, .length = 1},
                     cases[i].words);
    node_end(test);
}

static void messages_and_bytes_are_counted(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
    struct psd_comm_counters counters;

    node_begin(test, 0);
    node_sync(test, CONV, 0, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 0), 1);
    psd_node_count(test->node, &counters);
    CHECK(counters.iterations == 1 && counters.warnings == 0);
    CHECK(counters.sent_messages == 1 && counters.sent_bytes == 40 + 12);
    CHECK(counters.received_messages == 1 && counters.received_bytes == 40 + 12);
    node_end(test);
}

/* Factors still travel to rank 0 when all that rank 1 waits for is there and it goes on. */
static void an_older_iteration_leaves_first(void)
{
    static const struct node_param params[] = {
        {.name = "conv", .rows = 1, .cols = 3},
        {.name = "fc", .rows = 40, .cols = 3, .route = PSD_ROUTE_BROADCAST}};
    struct node_test *test = node_of(&(struct node_case){.rank = 1,
                                                         .ranks = 2,
                                                         .workers = 2,
                                                         .params = params,
                                                         .n_params = 2,
                                                         .most = 64,
                                                         .credit = 1});
    struct psd_message factors = {
        .kind = PSD_MESSAGE_FACTORS, .from = 0, .subject = FC, .which = 0, .count = 1};

    CHECK(test->layout->pieces[CONV].server == 0);
    node_begin(test, 0);
    node_sync_factors(test, FC, 1, 1, 1); /* 172 bytes: three messages, one of them in flight */
    node_sync(test, CONV, 1, 1);
    node_sent(test, PSD_MESSAGE_FACTORS, 0);
    node_sent(test, PSD_MESSAGE_PUSH, 0);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 0, CONV, 0, 0), 2);
    for (factors.first = 0; factors.first < 3; factors.first++) {
        factors.length = factors.first < 2 ? 60 : 52;
        node_hears(test, factors, 1);
    }
    while (test->n_works)
        node_work(test, PSD_WORK_REBUILD);
    CHECK(test->fresh[CONV] == 1 && test->fresh[FC] == 1);

    node_begin(test, 1);
    node_sync(test, CONV, 1, 1);
    node_sent(test, PSD_MESSAGE_FACTORS, 0);
    CHECK(node_sent(test, PSD_MESSAGE_FACTORS, 0).message.iteration == 0);
    CHECK(node_sent(test, PSD_MESSAGE_PUSH, 0).message.iteration == 1);
    node_end(test);
}

int main(int argc, char **argv)
{
    RUN(create_survives_every_failed_allocation)
    RUN(a_rank_without_workers_has_no_node)
    RUN(sizes_alone_count_the_same_memory)
    RUN(sums_need_no_initial_values)
    RUN(values_that_are_equal_are_not_spread)
    RUN(the_host_of_worker_0_gives_its_values_to_their_owners)
    RUN(an_owner_passes_initial_values_on)
    RUN(others_get_initial_values_from_the_owners)
    RUN(initial_values_come_only_where_they_are_spread)
    RUN(initial_values_that_are_coming_do_not_come_again)
    RUN(small_parameters_are_spread_in_their_piece)
    RUN(iterations_follow_each_other)
    RUN(an_iteration_with_a_missing_sync_ends_the_job)
    RUN(an_iteration_without_any_sync_is_no_iteration)
    RUN(an_end_is_told_to_all_once)
    RUN(an_end_that_is_heard_is_passed_on)
    RUN(a_flood_of_ends_is_one_end)
    RUN(of_two_ends_at_once_the_first_whole_one_is_heard)
    RUN(an_end_that_is_coming_does_not_come_again)
    RUN(who_breaks_off_in_its_last_sentence_is_lost)
    RUN(who_was_not_in_time_is_told_so_and_all_else_is_another_s_mistake)
    RUN(an_end_that_there_is_no_memory_for_is_one_all_the_same)
    RUN(the_longest_sentence_is_heard_and_a_longer_one_refused)
    RUN(an_end_survives_every_failed_allocation)
    RUN(after_the_end_calls_are_refused_and_messages_dropped)
    RUN(a_lost_member_ends_the_job)
    RUN(nobody_speaks_in_another_s_name)
    RUN(what_may_not_come_ends_the_job_and_goes_nowhere)
    RUN(messages_of_joining_do_not_belong_into_a_running_job)
    RUN(what_has_no_payload_comes_without)
    RUN(messages_and_bytes_are_counted)
    RUN(an_older_iteration_leaves_first)
}
