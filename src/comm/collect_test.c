/* collect_test.c - sums and barriers: everybody makes the same calls, early or late. */
#include "base/random.h"
#include "collectives.h"
#include "math/sum.h"

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
    RUN(one_process_alone_waits_for_nobody)
    RUN(a_message_that_there_is_no_memory_for_ends_the_job)
    RUN(a_call_that_there_is_no_memory_for_says_so)
}
