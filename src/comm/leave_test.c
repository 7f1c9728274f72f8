/* leave_test.c - members that close their seats: what they took part in counts, and no more. */
#include "lone_node.h"

static struct node_test *member(unsigned rank)
{
    return node_of(&(struct node_case){.rank = rank, .ranks = 3, .workers = 3});
}

static struct psd_message leave_of(unsigned from, uint64_t iteration)
{
    return (struct psd_message){.kind = PSD_MESSAGE_LEAVE, .from = from, .iteration = iteration};
}

static void leaving_is_told_to_all(void)
{
    struct node_test *test = member(0);
    float number = 1;

    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_COPY, &number, 4));
    node_settle(test);
    psd_node_leave(test->node);
    for (unsigned to = 1; to < 3; to++) {
        struct psd_send leave = node_sent(test, PSD_MESSAGE_LEAVE, to);
        CHECK(leave.message.iteration == 0 && leave.message.length == 0);
        CHECK(leave.message.first == 0 && leave.message.count == 1); /* sums and copies */
    }
    node_end(test);
}

static void the_first_iteration_not_synced_is_told(void)
{
    struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});

    node_begin(test, 7);
    node_sync(test, CONV, 0, 1);
    node_sync(test, FC, 0, 1);
    node_settle(test);
    psd_node_leave(test->node);
    CHECK(node_sent(test, PSD_MESSAGE_LEAVE, 1).message.iteration == 8);
    node_end(test);
}

static void leaving_in_the_middle_of_an_iteration_ends_the_job(void)
{
    struct node_test *test = member(0);

    node_begin(test, 7);
    node_sync(test, CONV, 0, 1);
    node_settle(test);
    psd_node_leave(test->node);
    node_ends(test, PSD_EPEER, "rank 0 closes its seat before it has synced fc in iteration 7");
    node_free(test);
}

static const char missed[] =
    "rank 1 has closed its seat, and rank 0 waits for conv of iteration 7: "
    "all ranks make the same number of iterations";

static void who_goes_on_after_another_has_left_ends_the_job(void)
{
    struct node_test *test = member(0);

    node_deliver(test, leave_of(1, 7), NULL);
    node_begin(test, 7); /* which costs nobody anything yet */
    CHECK_STATUS(PSD_EPEER, node_try_sync(test, CONV, 0, 1));
    node_ends(test, PSD_EPEER, missed);
    node_free(test);
}

static void who_waits_for_one_that_leaves_ends_the_job(void)
{
    struct node_test *test = member(0);

    node_begin(test, 7);
    node_sync(test, CONV, 0, 1);
    node_settle(test);
    node_deliver(test, leave_of(2, 8), NULL); /* it has synced iteration 7 */
    CHECK(test->ended == 0);
    node_deliver(test, leave_of(1, 7), NULL);
    node_ends(test, PSD_EPEER, missed);
    node_free(test);
}

static void who_collects_with_one_that_has_left_ends_the_job(void)
{
    static const char sentence[] = "rank 1 has closed its seat, and rank 0 waits in a reduce, "
                                   "barrier or broadcast: all ranks make the same calls";

    for (int first = 0; first < 2; first++) {
        struct node_test *test = member(0);
        struct psd_message leave = leave_of(1, 0);
        if (first == 0)
            node_deliver(test, leave, NULL);
        CHECK_STATUS(first == 0 ? PSD_EPEER : PSD_OK,
                     psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
        if (first == 1)
            node_deliver(test, leave, NULL);
        node_ends(test, PSD_EPEER, sentence);
        node_free(test);
    }
}

static void a_member_that_has_left_is_not_lost(void)
{
    struct node_test *test = member(0);

    node_deliver(test, leave_of(1, 0), NULL);
    psd_node_lost(test->node, 1, "it has gone");
    node_is_quiet(test);
    CHECK(test->ended == 0);
    node_end(test);
}

static void a_member_leaves_once(void)
{
    struct node_test *test = member(0);

    node_deliver(test, leave_of(1, 0), NULL);
    node_refuses(test, leave_of(1, 0), "rank 1 leaves twice");
    node_end(test);
}

/* --- gone before all of it has come --------------------------------------------------------------
 */

/* Rank 1 has left and is gone; `test` is rank 0 or 2 of three. */
static void loses_what_it_needs(struct node_test *test, const char *what)
{
    char sentence[256];

    CHECK(test->ended == 0);
    node_settle(test);
    psd_node_lost(test->node, 1, "broken pipe");
    snprintf(sentence, sizeof sentence,
             "rank 1 has closed its seat, and what rank %u %s is lost: broken pipe",
             test->node->rank, what);
    CHECK(test->ended == 1 && test->status == PSD_EPEER);
    CHECK_TEXT(sentence, test->sentence);
    node_sent(test, PSD_MESSAGE_END, test->node->rank == 0 ? 2 : 0);
    node_is_quiet(test);
    node_free(test);
}

static void a_value_that_is_lost_with_its_owner_ends_the_job(void)
{
    for (int half = 0; half < 2; half++) {
        struct node_test *test = member(0);
        struct psd_message value = node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 7);
        struct psd_place place;
        node_begin(test, 7);
        node_sync(test, CONV, 0, 1);
        node_sync(test, FC, 0, 1);
        node_deliver(test, leave_of(1, 8), NULL);
        if (half)
            psd_node_place(test->node, 1, &value, &place);
        loses_what_it_needs(test, "needs of it for conv");
    }
}

static void values_of_others_are_waited_for_without_it(void)
{
    struct node_test *test = member(2);

    node_begin(test, 7);
    node_sync(test, CONV, 2, 1);
    node_sync(test, FC, 2, 1);
    node_settle(test);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 7), 3);
    node_deliver(test, leave_of(1, 8), NULL);
    psd_node_lost(test->node, 1, "it has gone");
    CHECK(test->ended == 0);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 0, FC, 0, 7), 3);
    node_has(test, FC, 3, 1);
    node_end(test);
}

/* In sum mode a value is the caller's when it has left for all, and one of them says so no more. */
static void a_sum_on_its_way_to_one_that_has_left_is_fresh(void)
{
    struct node_test *test = member(0);

    node_begin(test, 7);
    node_sync(test, CONV, 0, 1);
    node_sync(test, FC, 0, 1);
    node_sent(test, PSD_MESSAGE_PUSH, 1);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, CONV, 0, 7), 3);
    node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 1, FC, 1, 7), 1);
    node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 2, FC, 2, 7), 1);
    node_work(test, PSD_WORK_UPDATE);
    CHECK(node_sends(test, PSD_MESSAGE_VALUE, 1));
    node_sent(test, PSD_MESSAGE_VALUE, 2);
    node_deliver(test, leave_of(1, 8), NULL);
    CHECK(test->fresh[FC] == 0);
    psd_node_lost(test->node, 1, "it has gone");
    node_has(test, FC, 3, 1);
    node_end(test);
}

static void initial_values_that_are_lost_with_their_owner_end_the_job(void)
{
    static const unsigned host[] = {1, 0, 2}; /* who gives rank 0 what it owns */
    struct node_test *test = node_unstarted(
        &(struct node_case){.ranks = 3, .workers = 3, .host = host, .updates = true});

    CHECK_OK(psd_node_start(test->node, false));
    node_deliver(test, leave_of(1, 0), NULL);
    loses_what_it_needs(test, "needs of it for conv");

    test = node_unstarted(
        &(struct node_case){.ranks = 3, .workers = 3, .host = host, .updates = true});
    CHECK_OK(psd_node_start(test->node, false));
    node_hears(test, node_message(test, PSD_MESSAGE_INITIAL, 1, CONV, 0, 0), 1);
    node_deliver(test, leave_of(1, 0), NULL);
    loses_what_it_needs(test, "needs of it for fc");
}

static void factors_that_are_lost_with_their_sender_end_the_job(void)
{
    static const struct node_param params[] = {
        {.name = "fc", .rows = 4, .cols = 2, .route = PSD_ROUTE_BROADCAST}};
    const struct node_case c = {
        .ranks = 3, .workers = 3, .params = params, .n_params = 1, .most = 1 << 10};
    struct psd_message factors = {
        .kind = PSD_MESSAGE_FACTORS, .from = 1, .iteration = 7, .which = 1, .length = 24};
    struct psd_place place;

    for (int here = 0; here < 3; here++) { /* not at all, half, whole */
        struct node_test *test = node_of(&c);
        node_begin(test, 7);
        node_sync_factors(test, 0, 0, 1, 1);
        node_settle(test);
        if (here == 1)
            psd_node_place(test->node, 1, &factors, &place);
        if (here == 2)
            node_hears(test, factors, 1);
        node_deliver(test, leave_of(1, 8), NULL);
        if (here < 2) {
            loses_what_it_needs(test, "needs of it for fc");
            continue;
        }
        psd_node_lost(test->node, 1, "it has gone");
        struct psd_message others = factors;
        others.from = others.which = 2;
        node_hears(test, others, 1);
        node_settle(test);
        node_has(test, 0, 3, 1);
        node_end(test);
    }
}

static void a_norm_that_is_lost_with_rank_0_ends_the_job(void)
{
    struct node_test *test = node_of(&(struct node_case){
        .rank = 1, .ranks = 2, .workers = 2, .updates = true, .update = {.clip = 1}});

    node_begin(test, 7);
    node_sync(test, CONV, 1, 1);
    node_sync(test, FC, 1, 1);
    node_hears(test, node_message(test, PSD_MESSAGE_PUSH, 0, CONV, 0, 7), 1);
    node_settle(test);
    node_deliver(test, leave_of(0, 8), NULL);
    psd_node_lost(test->node, 0, "broken pipe");
    CHECK_TEXT("rank 0 has closed its seat, and what rank 1 needs of it for conv is lost: broken "
               "pipe",
               test->sentence);
    node_free(test);
}

/* Rank 1 owns the mean, rank 0 the variance. */
static void what_is_averaged_needs_no_norm_of_rank_0(void)
{
    static const struct node_param params[] = {
        {.name = "mean", .rows = 1, .cols = 3, .averaged = true},
        {.name = "variance", .rows = 1, .cols = 3, .averaged = true}};
    struct node_test *test = node_of(&(struct node_case){.rank = 2,
                                                         .ranks = 3,
                                                         .workers = 3,
                                                         .updates = true,
                                                         .update = {.clip = 1},
                                                         .params = params,
                                                         .n_params = 2});

    node_begin(test, 7);
    node_sync(test, 0, 2, 1);
    node_sync(test, 1, 2, 1);
    node_settle(test);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 0, 1, 0, 7), 3);
    node_deliver(test, leave_of(0, 8), NULL);
    psd_node_lost(test->node, 0, "it has gone");
    CHECK(test->ended == 0);
    node_hears(test, node_message(test, PSD_MESSAGE_VALUE, 1, 0, 0, 7), 4);
    node_has(test, 0, 4, 1);
    node_end(test);
}

static void a_result_that_is_lost_with_its_giver_ends_the_job(void)
{
    static const unsigned host[] = {1, 0, 2};
    struct psd_message leave = leave_of(1, 0);
    struct node_test *test =
        node_of(&(struct node_case){.rank = 2, .ranks = 3, .workers = 3, .host = host});
    float number = 1;

    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_COPY, &number, sizeof number));
    leave.count = 1;
    node_deliver(test, leave, NULL);
    loses_what_it_needs(test, "waits for in a reduce, barrier or broadcast");

    test = member(2);
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    leave.from = 1;
    leave.first = 1;
    node_deliver(test, leave, NULL);
    node_settle(test);
    psd_node_lost(test->node, 1, "it has gone"); /* rank 0 has its part, and gives the sum */
    node_deliver(
        test,
        (struct psd_message){.kind = PSD_MESSAGE_TAKE, .from = 0, .subject = PSD_COLLECTIVE_SUM},
        NULL);
    CHECK(test->collected == 1);
    node_end(test);
}

int main(int argc, char **argv)
{
    RUN(leaving_is_told_to_all)
    RUN(the_first_iteration_not_synced_is_told)
    RUN(leaving_in_the_middle_of_an_iteration_ends_the_job)
    RUN(who_goes_on_after_another_has_left_ends_the_job)
    RUN(who_waits_for_one_that_leaves_ends_the_job)
    RUN(who_collects_with_one_that_has_left_ends_the_job)
    RUN(a_member_that_has_left_is_not_lost)
    RUN(a_member_leaves_once)
    RUN(a_value_that_is_lost_with_its_owner_ends_the_job)
    RUN(values_of_others_are_waited_for_without_it)
    RUN(a_sum_on_its_way_to_one_that_has_left_is_fresh)
    RUN(initial_values_that_are_lost_with_their_owner_end_the_job)
    RUN(factors_that_are_lost_with_their_sender_end_the_job)
    RUN(a_norm_that_is_lost_with_rank_0_ends_the_job)
    RUN(what_is_averaged_needs_no_norm_of_rank_0)
    RUN(a_result_that_is_lost_with_its_giver_ends_the_job)
}
