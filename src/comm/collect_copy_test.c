/* collect_copy_test.c - copies: one gives, ahead of those that call for them or behind. */
#include "collectives.h"

/* A member calls for copy `number`. */
static struct psd_message call_of(unsigned from, uint64_t number)
{
    return (struct psd_message){.kind = PSD_MESSAGE_GIVE,
                                .from = from,
                                .iteration = number,
                                .subject = PSD_COLLECTIVE_COPY};
}

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

int main(int argc, char **argv)
{
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
}
