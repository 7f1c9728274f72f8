/* collect_mistake_test.c - who makes other calls ends the job; messages that may not come are refused. */
#include "collectives.h"

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

int main(int argc, char **argv)
{
    RUN(who_reduces_another_number_ends_the_job)
    RUN(who_broadcasts_another_length_ends_the_job)
    RUN(collectives_are_made_one_at_a_time)
    RUN(nothing_is_collected_after_the_end)
    RUN(strange_gifts_are_refused_and_change_nothing)
    RUN(results_that_nobody_waits_for_are_refused)
    RUN(what_is_coming_does_not_come_again)
    RUN(copies_out_of_turn_are_refused)
}
