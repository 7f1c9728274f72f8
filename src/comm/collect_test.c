/* collect_test.c - sums, barriers and copies: everybody makes the same calls, early or late. */
#include "base/random.h"
#include "lone_node.h"
#include "math/sum.h"

static struct node_test *member(unsigned rank)
{
    return node_of(&(struct node_case){.rank = rank, .ranks = 3, .workers = 3});
}

/* `count` numbers of one worker, for sum `number`. */
static struct psd_message give_of(unsigned from, uint32_t count, uint64_t number)
{
    return (struct psd_message){.kind = PSD_MESSAGE_GIVE,
                                .from = from,
                                .iteration = number,
                                .subject = PSD_COLLECTIVE_SUM,
                                .count = count,
                                .length = count * sizeof(float)};
}

static struct psd_message take_of(enum psd_collective kind, unsigned from, uint64_t bytes,
                                  uint64_t number)
{
    return (struct psd_message){.kind = PSD_MESSAGE_TAKE,
                                .from = from,
                                .iteration = number,
                                .subject = kind,
                                .length = bytes};
}

/* A member calls for copy `number`. */
static struct psd_message call_of(unsigned from, uint64_t number)
{
    return (struct psd_message){.kind = PSD_MESSAGE_GIVE,
                                .from = from,
                                .iteration = number,
                                .subject = PSD_COLLECTIVE_COPY};
}

static void reduce(struct node_test *test, float *data, size_t count)
{
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, data, count * sizeof *data));
}

static void copy(struct node_test *test, void *data, size_t bytes)
{
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_COPY, data, bytes));
}

/* The same on another rank than the one that gives, which is told. */
static void call(struct node_test *test, void *data, size_t bytes)
{
    copy(test, data, bytes);
    struct psd_send sent = node_sent(test, PSD_MESSAGE_GIVE, test->job->host[0]);
    CHECK(sent.message.subject == PSD_COLLECTIVE_COPY && sent.message.length == 0);
    CHECK(sent.message.iteration == test->node->collects.next[PSD_COLLECTIVE_COPY] - 1);
}

/* --- sums ----------------------------------------------------------------------------------------
 */

static void rank_0_adds_up_and_tells_all(void)
{
    for (int turn = 0; turn < 3; turn++) {
        struct node_test *test = member(0);
        float data[] = {1, 10};
        for (int i = 0; i < 3; i++) {
            CHECK(test->collected == 0);
            if (i == turn)
                reduce(test, data, 2);
            else
                node_hears(test, give_of(i == (turn + 1) % 3 ? 2 : 1, 2, 0), 5);
        }
        for (unsigned to = 1; to < 3; to++) {
            struct psd_send take = node_sent(test, PSD_MESSAGE_TAKE, to);
            CHECK(take.message.iteration == 0 && take.message.subject == PSD_COLLECTIVE_SUM);
            CHECK(take.message.length == 8 && node_floats(&take)[1] == 20);
        }
        CHECK(test->collected == 1 && data[0] == 11 && data[1] == 20);
        node_end(test);
    }
}

static void others_give_and_take(void)
{
    struct node_test *test = member(2);

    for (uint64_t number = 0; number < 3; number++) {
        float data[] = {1, 2};
        reduce(test, data, 2);
        struct psd_send give = node_sent(test, PSD_MESSAGE_GIVE, 0);
        CHECK(give.message.iteration == number && give.message.count == 2);
        CHECK(give.message.length == 8 && node_floats(&give) == data);
        CHECK(test->collected == number);
        node_hears(test, take_of(PSD_COLLECTIVE_SUM, 0, 8, number), 7);
        CHECK(test->collected == number + 1 && data[0] == 7 && data[1] == 7);
    }
    node_end(test);
}

enum { COUNT = 5, WORKERS = 5 };

/* The numbers of the workers of `rank`, a row each: rank 0 calls with them, another gives them.
 * `first` is what is in the first row then. */
static void take_part(struct node_test *test, unsigned rank, float grads[WORKERS][COUNT],
                      float first[COUNT])
{
    struct psd_message give = give_of(rank, COUNT, 0);
    float rows[WORKERS][COUNT];
    size_t n = 0;

    for (unsigned w = 0; w < WORKERS; w++) {
        if (test->job->host[w] == rank)
            memcpy(rows[n++], grads[w], sizeof *rows);
    }
    give.length *= n;
    if (rank == 0)
        reduce(test, *rows, COUNT);
    else
        node_deliver(test, give, rows);
    memcpy(first, rows[0], sizeof *rows);
}

/* Whoever hosts which workers, the sum has the bits of the tree. */
static void sums_are_added_along_the_tree_of_workers(void)
{
    static const unsigned hosts[][WORKERS] = {
        {0, 0, 1, 1, 2}, {2, 1, 0, 1, 0}, {1, 2, 2, 2, 0}, {2, 2, 2, 0, 1}};
    float grads[WORKERS][COUNT], want[COUNT], got[COUNT];
    const float *leaves[WORKERS];

    for (unsigned w = 0; w < WORKERS; w++) {
        psd_random_fill_normal(3, w, 0, COUNT, grads[w]);
        leaves[w] = grads[w];
    }
    psd_sum_tree(leaves, WORKERS, COUNT, want);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct node_test *test =
            node_of(&(struct node_case){.ranks = 3, .workers = WORKERS, .host = hosts[i]});
        for (unsigned rank = 3; rank-- > 0;)
            take_part(test, rank, grads, got);
        CHECK(node_same(got, want, sizeof want));
        node_settle(test);
        node_end(test);
    }
}

static void a_barrier_is_a_sum_of_nothing(void)
{
    struct node_test *test = member(0);

    node_hears(test, give_of(2, 0, 0), 0);
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    CHECK(test->collected == 0);
    node_hears(test, give_of(1, 0, 0), 0);
    CHECK(node_sent(test, PSD_MESSAGE_TAKE, 1).message.length == 0);
    CHECK(node_sent(test, PSD_MESSAGE_TAKE, 2).message.length == 0);
    CHECK(test->collected == 1);
    node_end(test);
}

static void a_member_may_be_one_sum_ahead(void)
{
    struct node_test *test = member(0);

    node_hears(test, give_of(1, 1, 0), 1);
    for (uint64_t number = 0; number < 4; number++) {
        float data = 1;
        reduce(test, &data, 1);
        node_refuses(test, give_of(1, 1, number + 1 + 1), "rank 1 gives to collective");
        node_hears(test, give_of(2, 1, number), 1);
        node_settle(test);
        CHECK(test->collected == number + 1 && data == 3);
        node_hears(test, give_of(1, 1, number + 1), 1); /* and we are still at the one before */
    }
    node_end(test);
}

static void sums_may_differ_in_length_from_call_to_call(void)
{
    struct node_test *test = member(0);
    static float data[PSD_COMM_REDUCE_MOST];
    static const uint32_t counts[] = {3, 1, 0, PSD_COMM_REDUCE_MOST, 2, 5};

    for (uint64_t number = 0; number < 6; number++) {
        memset(data, 0, sizeof data);
        node_hears(test, give_of(1, counts[number], number), 1);
        reduce(test, data, counts[number]);
        node_hears(test, give_of(2, counts[number], number), 1);
        node_settle(test);
        CHECK(counts[number] == 0 || data[counts[number] - 1] == 2);
    }
    CHECK(test->collected == 6);
    node_end(test);
}

/* --- copies --------------------------------------------------------------------------------------
 */

static void a_copy_goes_to_all_and_ends_when_it_has_left(void)
{
    struct node_test *test = member(0);
    char data[] = "hello";

    for (uint64_t number = 0; number < 2; number++) {
        copy(test, data, sizeof data);
        struct psd_send *first = node_sends(test, PSD_MESSAGE_TAKE, 1);
        struct psd_send *second = node_sends(test, PSD_MESSAGE_TAKE, 2);
        CHECK(first->message.iteration == number && first->message.length == sizeof data);
        CHECK(first->message.subject == PSD_COLLECTIVE_COPY);
        CHECK(first->frame.payload[0].data == data && second->frame.payload[0].data == data);
        psd_node_sent(test->node, second);
        CHECK(test->collected == number);
        psd_node_sent(test->node, first);
        CHECK(test->collected == number + 1);
    }
    node_end(test);
}

static void long_copy(struct node_test *test, size_t bytes, unsigned after)
{
    char *data = calloc(1, bytes);
    unsigned before = test->collected;

    copy(test, data, bytes);
    for (unsigned to = 1; to < 3; to++) {
        node_is_quiet(test); /* a member that has not called for it has no place for it */
        CHECK(test->collected == before);
        node_deliver(test, call_of(to, after), NULL);
        CHECK(node_sent(test, PSD_MESSAGE_TAKE, to).message.length == bytes);
    }
    CHECK(test->collected == before + 1);
    free(data);
}

static void a_long_copy_waits_until_it_is_called_for(void)
{
    struct node_test *test = member(0);

    long_copy(test, PSD_COLLECT_EARLY + 1, 0);
    long_copy(test, PSD_COLLECT_EARLY + 1, 1);
    node_end(test);
}

static void who_has_called_before_gets_a_long_copy_at_once(void)
{
    struct node_test *test = member(0);
    char *data = calloc(1, PSD_COLLECT_EARLY + 1);

    node_deliver(test, call_of(1, 0), NULL);
    copy(test, data, PSD_COLLECT_EARLY + 1);
    node_sent(test, PSD_MESSAGE_TAKE, 1);
    node_is_quiet(test);
    psd_node_overdue(test->node, PSD_NODE_ALL);
    CHECK_TEXT("rank 0 waits in a broadcast: rank 2 is not there", test->warning);
    node_deliver(test, call_of(2, 0), NULL);
    psd_node_overdue(test->node, PSD_NODE_ALL);
    CHECK_TEXT("rank 0 waits in a broadcast: what it gives is on its way", test->warning);
    node_sent(test, PSD_MESSAGE_TAKE, 2);
    CHECK(test->collected == 1);
    free(data);
    node_end(test);
}

static void a_giver_is_a_few_copies_ahead_at_most(void)
{
    struct node_test *test = member(0);
    char data[6] = "hello";

    for (uint64_t number = 0; number < PSD_COLLECT_AHEAD; number++) {
        copy(test, data, sizeof data);
        node_settle(test);
    }
    CHECK(test->collected == PSD_COLLECT_AHEAD);
    copy(test, data, sizeof data);
    node_is_quiet(test);
    node_deliver(test, call_of(1, 2), NULL); /* it was called after the first, and overtook it */
    node_deliver(test, call_of(1, 0), NULL);
    node_sent(test, PSD_MESSAGE_TAKE, 1);
    node_deliver(test, call_of(2, 0), NULL);
    node_sent(test, PSD_MESSAGE_TAKE, 2);
    CHECK(test->collected == PSD_COLLECT_AHEAD + 1);
    copy(test, data, sizeof data);
    node_sent(test, PSD_MESSAGE_TAKE, 1);
    node_is_quiet(test);
    node_deliver(test, call_of(2, 1), NULL);
    node_sent(test, PSD_MESSAGE_TAKE, 2);
    node_end(test);
}

/* The most that a member keeps for one that is ahead. */
static void as_many_copies_are_kept_as_may_come(void)
{
    struct node_test *test = member(1);
    char *data = calloc(1, PSD_COLLECT_EARLY);

    for (uint64_t number = 0; number < PSD_COLLECT_AHEAD; number++)
        node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, PSD_COLLECT_EARLY, number), data);
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, 0, PSD_COLLECT_AHEAD), "comes before");
    for (unsigned i = 0; i < PSD_COLLECT_AHEAD; i++) {
        call(test, data, PSD_COLLECT_EARLY);
        node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, PSD_COLLECT_AHEAD + i), "hello");
    }
    CHECK(test->collected == PSD_COLLECT_AHEAD);
    free(data);
    node_end(test);
}

/* It has its copy and closes its seat, and nobody ever says that the copy has been sent. */
static void a_copy_to_one_that_has_left_is_sent(void)
{
    struct node_test *test = member(0);
    struct psd_message leave = {.kind = PSD_MESSAGE_LEAVE, .from = 1, .count = 1};
    char data[6] = "hello";

    copy(test, data, sizeof data);
    CHECK(node_sends(test, PSD_MESSAGE_TAKE, 1));
    node_sent(test, PSD_MESSAGE_TAKE, 2);
    node_deliver(test, leave, NULL);
    CHECK(test->collected == 0);
    psd_node_lost(test->node, 1, "it has gone");
    CHECK(test->collected == 1 && test->ended == 0);
    node_end(test);
}

static void a_copy_to_one_that_is_lost_is_not(void)
{
    struct node_test *test = member(0);
    char data[6] = "hello";

    copy(test, data, sizeof data);
    CHECK(node_sends(test, PSD_MESSAGE_TAKE, 1));
    node_sent(test, PSD_MESSAGE_TAKE, 2);
    psd_node_lost(test->node, 1, "connection reset");
    CHECK(test->collected == 0 && test->ended == 1);
    node_sent(test, PSD_MESSAGE_END, 2);
    CHECK(!psd_node_busy(test->node));
    node_free(test);
}

static void calls_for_copies_that_are_not_given_are_refused(void)
{
    struct node_test *test = member(0);
    static const struct node_twist twists[] = {
        NODE_TWIST(iteration, 1, "rank 1 calls for broadcast 1, which rank 0 does not give"),
        NODE_TWIST(iteration, UINT64_MAX, "rank 1 calls for broadcast 18446744073709551615"),
        NODE_TWIST(length, 4, "rank 1 calls for broadcast 0"),
        NODE_TWIST(count, 1, "rank 1 calls for broadcast 0"),
    };

    node_refuses_all(test, call_of(1, 0), twists, sizeof twists / sizeof *twists);
    node_end(test);

    test = member(1);
    node_refuses(test, call_of(2, 0), "rank 2 calls for broadcast 0, which rank 1 does not give");
    node_end(test);
}

static void a_copy_that_is_waited_for_goes_to_its_place(void)
{
    struct node_test *test = member(1);
    struct psd_message take = take_of(PSD_COLLECTIVE_COPY, 0, 6, 0);
    char data[6] = "";
    struct psd_place place;

    call(test, data, sizeof data);
    psd_node_place(test->node, 0, &take, &place);
    CHECK(place.spans[0].data == data && place.spans[0].bytes == sizeof data);
    node_move("hello", &take, &place);
    psd_node_arrived(test->node, &take);
    CHECK_TEXT("hello", data);
    CHECK(test->collected == 1);
    node_end(test);
}

static void copies_that_come_early_are_kept(void)
{
    struct node_test *test = member(1);
    char data[6] = "";

    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 0), "first");
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 2), "third");
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 1), "secnd");
    static const char *const want[] = {"first", "secnd", "third"};
    for (unsigned i = 0; i < 3; i++) {
        call(test, data, sizeof data);
        CHECK_TEXT(want[i], data);
        CHECK(test->collected == i + 1);
    }
    call(test, data, sizeof data);
    CHECK(test->collected == 3);
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 3), "forth");
    CHECK_TEXT("forth", data);
    CHECK(test->collected == 4);
    node_end(test);
}

static void a_copy_may_be_called_for_while_it_comes(void)
{
    struct node_test *test = member(1);
    struct psd_message take = take_of(PSD_COLLECTIVE_COPY, 0, 6, 0);
    char data[6] = "";
    struct psd_place place;

    psd_node_place(test->node, 0, &take, &place);
    call(test, data, sizeof data);
    CHECK(test->collected == 0);
    node_move("hello", &take, &place);
    psd_node_arrived(test->node, &take);
    CHECK_TEXT("hello", data);
    CHECK(test->collected == 1);
    node_end(test);
}

/* Worker 0 is on rank 1, which has its sum while ours is still on the way. */
static void a_copy_may_come_while_we_wait_for_a_sum(void)
{
    static const unsigned host[] = {1, 0, 2};
    struct node_test *test =
        node_of(&(struct node_case){.rank = 2, .ranks = 3, .workers = 3, .host = host});
    float sum = 1;
    char data[6] = "";

    reduce(test, &sum, 1);
    node_sent(test, PSD_MESSAGE_GIVE, 0);
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 1, 6, 0), "hello");
    CHECK(test->collected == 0);
    node_hears(test, take_of(PSD_COLLECTIVE_SUM, 0, 4, 0), 3);
    CHECK(test->collected == 1 && sum == 3);
    call(test, data, sizeof data);
    CHECK_TEXT("hello", data);
    node_end(test);
}

static void a_copy_of_nothing_is_a_copy(void)
{
    struct node_test *test = member(1);

    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 0, 0), NULL);
    call(test, NULL, 0);
    CHECK(test->collected == 1);
    call(test, NULL, 0);
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 0, 1), NULL);
    CHECK(test->collected == 2);
    node_end(test);
}

static void one_process_alone_waits_for_nobody(void)
{
    struct node_test *test = node_of(&(struct node_case){.workers = 2});
    float data[] = {1, 2, 30, 40};

    reduce(test, data, 2);
    CHECK(test->collected == 1 && data[0] == 31 && data[1] == 42);
    copy(test, data, sizeof data);
    CHECK(test->collected == 2);
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    CHECK(test->collected == 3);
    node_end(test);
}

/* --- mistakes ------------------------------------------------------------------------------------
 */

static void who_reduces_another_number_ends_the_job(void)
{
    static const char first[] = "rank 1 reduces 2 numbers where rank 0 reduces 3: all ranks make "
                                "the same calls in the same order";
    static const char second[] = "rank 0 reduces 3 numbers where rank 1 reduces 2: all ranks make "
                                 "the same calls in the same order";
    float data[3] = {0};
    struct node_test *test = member(0);
    struct psd_message give = give_of(1, 2, 0);
    struct psd_place place;

    reduce(test, data, 3);
    psd_node_place(test->node, 1, &give, &place);
    node_ends(test, PSD_EPEER, first);
    node_free(test);

    test = member(0);
    node_hears(test, give, 1);
    CHECK_STATUS(PSD_EPEER, psd_node_collect(test->node, PSD_COLLECTIVE_SUM, data, 12));
    CHECK_TEXT(second, psd_error());
    node_ends(test, PSD_EPEER, second);
    node_free(test);
}

static void who_broadcasts_another_length_ends_the_job(void)
{
    static const char sentence[] = "rank 1 broadcasts 8 bytes where rank 0 broadcasts 6: all ranks "
                                   "make the same calls in the same order";
    struct psd_message take = take_of(PSD_COLLECTIVE_COPY, 0, 6, 0);
    struct psd_place place;
    char data[8];

    for (int turn = 0; turn < 3; turn++) { /* before the call, on the way, after it */
        struct node_test *test = member(1);
        if (turn == 0)
            node_deliver(test, take, "hello");
        if (turn == 1)
            psd_node_place(test->node, 0, &take, &place);
        CHECK_STATUS(turn == 0 ? PSD_EPEER : PSD_OK,
                     psd_node_collect(test->node, PSD_COLLECTIVE_COPY, data, sizeof data));
        node_sent(test, PSD_MESSAGE_GIVE, 0);
        if (turn == 1)
            psd_node_arrived(test->node, &take);
        if (turn == 2)
            psd_node_place(test->node, 0, &take, &place);
        node_ends(test, PSD_EPEER, sentence);
        node_free(test);
    }
}

static void collectives_are_made_one_at_a_time(void)
{
    struct node_test *test = member(0);
    float data[2] = {0};

    reduce(test, data, 2);
    CHECK_STATUS(PSD_EINVAL, psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    CHECK_TEXT("another thread is in a reduce, barrier, broadcast or save of state", psd_error());
    node_hears(test, give_of(1, 2, 0), 1);
    node_hears(test, give_of(2, 2, 0), 1);
    node_settle(test);
    CHECK(test->collected == 1);
    node_end(test);
}

static void nothing_is_collected_after_the_end(void)
{
    struct node_test *test = member(0);

    psd_node_end(test->node, PSD_EPEER, "enough");
    node_ends(test, PSD_EPEER, "enough");
    CHECK_STATUS(PSD_EPEER, psd_node_collect(test->node, PSD_COLLECTIVE_SUM, NULL, 0));
    CHECK_TEXT("the job has ended", psd_error());
    CHECK(test->collected == 0);
    node_free(test);
}

/* --- what may not come ---------------------------------------------------------------------------
 */

static void strange_gifts_are_refused_and_change_nothing(void)
{
    struct node_test *test = member(0);
    static const struct node_twist twists[] = {
        NODE_TWIST(length, 4, "rank 1 gives 4 bytes to a collective"),
        NODE_TWIST(length, 16, "rank 1 gives 16 bytes to a collective"),
        NODE_TWIST(length, UINT64_MAX, "rank 1 gives 18446744073709551615 bytes"),
        NODE_TWIST(count, 1, "rank 1 gives 8 bytes to a collective"),
        NODE_TWIST(count, UINT32_MAX, "rank 1 gives 8 bytes to a collective"),
        NODE_TWIST(subject, PSD_COLLECTIVE_COPY, "rank 1 calls for broadcast 0"),
        NODE_TWIST(subject, 2, "there is no collective of kind 2 to give"),
        NODE_TWIST(iteration, 2, "rank 1 gives to collective 2 out of turn"),
        NODE_TWIST(iteration, UINT64_MAX, "rank 1 gives to collective 18446744073709551615 out"),
    };
    float data[2] = {0};

    node_refuses_all(test, give_of(1, 2, 0), twists, sizeof twists / sizeof *twists);
    node_refuses(test, give_of(1, PSD_COMM_REDUCE_MOST + 1, 0), "rank 1 gives 16388 bytes");
    node_hears(test, give_of(1, 2, 0), 1);
    node_refuses(test, give_of(1, 2, 0), "rank 1 gives to collective 0 out of turn");
    reduce(test, data, 2);
    node_hears(test, give_of(2, 2, 0), 1);
    node_settle(test);
    CHECK(test->collected == 1 && data[1] == 2);
    node_refuses(test, give_of(2, 2, 0), "rank 2 gives to collective 0 out of turn");
    node_end(test);

    test = member(1);
    node_refuses(test, give_of(2, 2, 0), "rank 2 gives 8 bytes to a collective");
    node_end(test);
}

static void results_that_nobody_waits_for_are_refused(void)
{
    struct node_test *test = member(1);
    static const struct node_twist sums[] = {
        NODE_TWIST(from, 2, "rank 2 gives back a sum that rank 1 does not wait for"),
        NODE_TWIST(iteration, 1, "rank 0 gives back a sum that rank 1 does not wait for"),
        NODE_TWIST(iteration, UINT64_MAX, "rank 0 gives back a sum"),
        NODE_TWIST(length, 4, "rank 0 gives back a sum that rank 1 does not wait for"),
        NODE_TWIST(subject, 2, "there is no collective of kind 2 to take"),
        NODE_TWIST(subject, UINT32_MAX, "there is no collective of kind 4294967295 to take"),
    };
    struct psd_message take = take_of(PSD_COLLECTIVE_SUM, 0, 8, 0);
    float data[2] = {0};

    node_refuses(test, take, "rank 0 gives back a sum that rank 1 does not wait for");
    reduce(test, data, 2);
    node_settle(test);
    node_refuses_all(test, take, sums, sizeof sums / sizeof *sums);
    node_hears(test, take, 1);
    CHECK(test->collected == 1);
    node_refuses(test, take, "rank 0 gives back a sum that rank 1 does not wait for");
    call(test, data, 8);
    node_refuses(test, take_of(PSD_COLLECTIVE_SUM, 0, 8, 0), "rank 0 gives back a sum");
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 8, 0), data);
    node_end(test);
}

static void what_is_coming_does_not_come_again(void)
{
    struct psd_message give = give_of(1, 2, 0), sum = take_of(PSD_COLLECTIVE_SUM, 0, 8, 0);
    struct psd_message first = take_of(PSD_COLLECTIVE_COPY, 0, 8, 0);
    struct psd_message second = take_of(PSD_COLLECTIVE_COPY, 0, 8, 1);
    struct psd_place place;
    float data[2] = {0};

    struct node_test *test = member(0);
    psd_node_place(test->node, 1, &give, &place);
    node_refuses(test, give, "rank 1 gives to collective 0 out of turn");
    psd_node_arrived(test->node, &give);
    node_end(test);

    test = member(1);
    reduce(test, data, 2);
    node_settle(test);
    psd_node_place(test->node, 0, &sum, &place);
    node_refuses(test, sum, "rank 0 gives back a sum that rank 1 does not wait for");
    psd_node_arrived(test->node, &sum);
    psd_node_place(test->node, 0, &first, &place); /* before its call, */
    node_refuses(test, first, "comes twice");
    call(test, data, 8);
    node_refuses(test, first, "rank 0 broadcasts out of turn");
    psd_node_arrived(test->node, &first);
    call(test, data, 8);
    psd_node_place(test->node, 0, &second, &place); /* and after it */
    node_refuses(test, second, "rank 0 broadcasts out of turn");
    psd_node_arrived(test->node, &second);
    CHECK(test->collected == 3);
    node_end(test);
}

static void copies_out_of_turn_are_refused(void)
{
    struct node_test *test = member(1);
    char data[6];

    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 2, 6, 0), "rank 2 broadcasts out of turn");
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, UINT64_MAX, 0),
                 "a broadcast of 18446744073709551615 bytes comes before rank 1 calls for it");
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, PSD_COLLECT_EARLY + 1, 0), "comes before");
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, PSD_COLLECT_AHEAD), "comes before");
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, UINT64_MAX), "comes before");
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 0), "hello");
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 0), "comes twice");
    call(test, data, sizeof data);
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 0), "rank 0 broadcasts out of turn");
    call(test, data, sizeof data);
    node_deliver(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 1), "hello");
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 0, 6, 1), "rank 0 broadcasts out of turn");
    node_end(test);

    test = member(0); /* which gives copies itself */
    node_refuses(test, take_of(PSD_COLLECTIVE_COPY, 1, 6, 0), "rank 1 broadcasts out of turn");
    node_end(test);
}

/* --- memory --------------------------------------------------------------------------------------
 */

static void a_message_that_there_is_no_memory_for_ends_the_job(void)
{
    const struct {
        unsigned rank;
        struct psd_message message;
        const char *sentence;
    } cases[] = {{0, give_of(1, 2, 0), "rank 0 is out of memory"},
                 {1, take_of(PSD_COLLECTIVE_COPY, 0, 6, 0), "rank 1 is out of memory"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_test *test = member(cases[i].rank);
        struct psd_place place;
        psd_alloc_fail_at(0);
        psd_node_place(test->node, cases[i].message.from, &cases[i].message, &place);
        CHECK(psd_alloc_fail_at(-1) && !place.spans[0].data);
        node_ends(test, PSD_ENOMEM, cases[i].sentence);
        node_free(test);
    }
}

static void a_call_that_there_is_no_memory_for_says_so(void)
{
    struct node_test *test = member(0);
    float data[2] = {0};

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_node_collect(test->node, PSD_COLLECTIVE_SUM, data, 8));
    CHECK(psd_alloc_fail_at(-1));
    reduce(test, data, 2); /* and may be made again */
    node_hears(test, give_of(1, 2, 0), 1);
    node_hears(test, give_of(2, 2, 0), 1);
    node_settle(test);
    CHECK(test->collected == 1 && data[0] == 2);
    node_end(test);
}

int main(int argc, char **argv)
{
    RUN(rank_0_adds_up_and_tells_all)
    RUN(others_give_and_take)
    RUN(sums_are_added_along_the_tree_of_workers)
    RUN(a_barrier_is_a_sum_of_nothing)
    RUN(a_member_may_be_one_sum_ahead)
    RUN(sums_may_differ_in_length_from_call_to_call)
    RUN(a_copy_goes_to_all_and_ends_when_it_has_left)
    RUN(a_long_copy_waits_until_it_is_called_for)
    RUN(who_has_called_before_gets_a_long_copy_at_once)
    RUN(a_giver_is_a_few_copies_ahead_at_most)
    RUN(as_many_copies_are_kept_as_may_come)
    RUN(a_copy_to_one_that_has_left_is_sent)
    RUN(a_copy_to_one_that_is_lost_is_not)
    RUN(calls_for_copies_that_are_not_given_are_refused)
    RUN(a_copy_that_is_waited_for_goes_to_its_place)
    RUN(copies_that_come_early_are_kept)
    RUN(a_copy_may_be_called_for_while_it_comes)
    RUN(a_copy_may_come_while_we_wait_for_a_sum)
    RUN(a_copy_of_nothing_is_a_copy)
    RUN(one_process_alone_waits_for_nobody)
    RUN(who_reduces_another_number_ends_the_job)
    RUN(who_broadcasts_another_length_ends_the_job)
    RUN(collectives_are_made_one_at_a_time)
    RUN(nothing_is_collected_after_the_end)
    RUN(strange_gifts_are_refused_and_change_nothing)
    RUN(results_that_nobody_waits_for_are_refused)
    RUN(what_is_coming_does_not_come_again)
    RUN(copies_out_of_turn_are_refused)
    RUN(a_message_that_there_is_no_memory_for_ends_the_job)
    RUN(a_call_that_there_is_no_memory_for_says_so)
}
