/* collectives.h - one member of three makes sums and copies, and the test is the other two.
 *
 *     struct node_test *test = member(1);
 *     reduce(test, data, 2);                                         it gives two numbers to rank 0
 *     node_sent(test, PSD_MESSAGE_GIVE, 0);
 *     node_hears(test, take_of(PSD_COLLECTIVE_SUM, 0, 8, 0), 7);     and takes their sum
 *     node_end(test);
 *
 * Sums are counted from 0, and so are copies. */
#ifndef PSD_TESTS_COLLECTIVES_H
#define PSD_TESTS_COLLECTIVES_H

#include "lone_node.h"

/* Rank `rank` of three, with a worker each. */
static inline struct node_test *member(unsigned rank)
{
    return node_of(&(struct node_case){.rank = rank, .ranks = 3, .workers = 3});
}

/* `count` numbers of one worker, for sum `number`. */
static inline struct psd_message give_of(unsigned from, uint32_t count, uint64_t number)
{
    return (struct psd_message){.kind = PSD_MESSAGE_GIVE,
                                .from = from,
                                .iteration = number,
                                .subject = PSD_COLLECTIVE_SUM,
                                .count = count,
                                .length = count * sizeof(float)};
}

static inline struct psd_message take_of(enum psd_collective kind, unsigned from, uint64_t bytes,
                                         uint64_t number)
{
    return (struct psd_message){.kind = PSD_MESSAGE_TAKE,
                                .from = from,
                                .iteration = number,
                                .subject = kind,
                                .length = bytes};
}

static inline void reduce(struct node_test *test, float *data, size_t count)
{
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_SUM, data, count * sizeof *data));
}

static inline void copy(struct node_test *test, void *data, size_t bytes)
{
    CHECK_OK(psd_node_collect(test->node, PSD_COLLECTIVE_COPY, data, bytes));
}

/* The same on another rank than the one that gives, which is told. */
static inline void call(struct node_test *test, void *data, size_t bytes)
{
    copy(test, data, bytes);
    struct psd_send sent = node_sent(test, PSD_MESSAGE_GIVE, test->job->host[0]);
    CHECK(sent.message.subject == PSD_COLLECTIVE_COPY && sent.message.length == 0);
    CHECK(sent.message.iteration == test->node->collects.next[PSD_COLLECTIVE_COPY] - 1);
}

#endif
