/* collect.c - everybody gives to rank 0 and takes from it.
 *
 * A message of a collective says its number in `iteration`, its kind in `subject` and the numbers of
 * a row in `count`, so that a member who calls something else is found out. */
#include "comm/collect.h"
#include "base/alloc.h"
#include "comm/node_state.h"
#include "math/sum.h"

#include <stdio.h>
#include <string.h>

#define NOBODY UINT32_MAX

/* Rows stand rank by rank, so that what a rank gives stays together. */
static void number_rows(struct psd_node *node)
{
    uint32_t row = 0;

    for (unsigned rank = 0; rank < node->job->ranks; rank++) {
        for (unsigned w = 0; w < node->job->workers; w++) {
            if (node->job->host[w] == rank)
                node->collects.row[w] = row++;
        }
    }
}

psd_status psd_collect_init(struct psd_node *node)
{
    struct psd_collects *collects = &node->collects;

    PSD_TRY(psd_collect_init_copies(node));
    if (node->rank != 0)
        return PSD_OK;
    collects->row = psd_alloc_zero(node->job->workers, sizeof *collects->row);
    collects->leaves = psd_alloc_zero(node->job->workers, sizeof *collects->leaves);
    if (!collects->row || !collects->leaves)
        return PSD_ENOMEM;
    number_rows(node);
    for (size_t i = 0; i < 2; i++) {
        struct psd_gathering *gathering = &collects->gatherings[i];
        gathering->first_rank = NOBODY;
        gathering->number = i;
        gathering->here = psd_alloc_zero(node->job->ranks, sizeof *gathering->here);
        if (!gathering->here)
            return PSD_ENOMEM;
    }
    return PSD_OK;
}

void psd_collect_fini(struct psd_node *node)
{
    for (size_t i = 0; i < 2; i++) {
        psd_alloc_free(node->collects.gatherings[i].rows);
        psd_alloc_free(node->collects.gatherings[i].here);
    }
    psd_alloc_free(node->collects.row);
    psd_alloc_free(node->collects.leaves);
    psd_collect_fini_copies(node);
}

/* Rows of everybody's workers have room. */
static psd_status make_room(const struct psd_node *node, struct psd_gathering *gathering,
                            size_t bytes)
{
    size_t wanted = node->job->workers * bytes;

    if (wanted > gathering->room) {
        float *rows = psd_alloc_resize(gathering->rows, wanted, 1);
        if (!rows)
            return PSD_ENOMEM;
        gathering->rows = rows;
        gathering->room = wanted;
    }
    return PSD_OK;
}

static struct psd_gathering *gathering_of(struct psd_node *node, uint64_t number)
{
    return &node->collects.gatherings[number & 1];
}

/* `rank` gives rows of `bytes` to a collective. */
static psd_status join(struct psd_node *node, uint64_t number, unsigned rank, size_t bytes)
{
    struct psd_gathering *gathering = gathering_of(node, number);

    if (gathering->number != number || gathering->here[rank])
        return psd_fail(PSD_EPEER, "rank %u gives to collective %llu out of turn", rank,
                        (unsigned long long)number);
    if (gathering->first_rank == NOBODY) {
        PSD_TRY(make_room(node, gathering, bytes));
        gathering->first_rank = rank;
        gathering->bytes = bytes;
    }
    if (gathering->bytes != bytes)
        return psd_node_mistake(node, PSD_EPEER,
                                "rank %u reduces %zu numbers where rank %u reduces %zu: all ranks "
                                "make the same calls in the same order",
                                rank, bytes / sizeof(float), gathering->first_rank,
                                gathering->bytes / sizeof(float));
    gathering->here[rank] = true;
    return PSD_OK;
}

/* Where the rows of a rank begin. */
static float *rows_of(const struct psd_node *node, const struct psd_gathering *gathering,
                      unsigned rank)
{
    unsigned worker = 0;

    while (node->job->host[worker] != rank)
        worker++;
    return gathering->rows + node->collects.row[worker] * (gathering->bytes / sizeof(float));
}

void psd_collect_done(struct psd_node *node)
{
    node->collects.waiting = false;
    node->collects.is_coming = false;
    node->driver->collected(node->context);
}

static void sum_rows(struct psd_node *node, struct psd_gathering *gathering)
{
    size_t count = gathering->bytes / sizeof(float);
    const float **leaves = node->collects.leaves;

    if (count == 0)
        return;
    for (unsigned w = 0; w < node->job->workers; w++)
        leaves[w] = gathering->rows + node->collects.row[w] * count;
    psd_sum_tree(leaves, node->job->workers, count, gathering->rows);
    memcpy(node->collects.data, gathering->rows, gathering->bytes);
}

/* Everybody has given: sums, tells all, and is ready for the one after the next. */
static void finish(struct psd_node *node, struct psd_gathering *gathering)
{
    struct psd_message message = {.kind = PSD_MESSAGE_TAKE,
                                  .iteration = gathering->number,
                                  .subject = PSD_COLLECTIVE_SUM,
                                  .length = gathering->bytes};

    sum_rows(node, gathering);
    psd_node_tell(node, &message, PSD_SEND_CONTROL, 0, gathering->rows, node->rank);
    gathering->number += 2;
    gathering->first_rank = NOBODY;
    gathering->came = 0;
    memset(gathering->here, 0, node->job->ranks * sizeof *gathering->here);
    psd_collect_done(node);
}

static void count_in(struct psd_node *node, struct psd_gathering *gathering)
{
    if (++gathering->came == node->job->ranks)
        finish(node, gathering);
}

static psd_status give(struct psd_node *node, uint64_t number, const void *data, size_t bytes)
{
    struct psd_message message = {.kind = PSD_MESSAGE_GIVE,
                                  .iteration = number,
                                  .subject = PSD_COLLECTIVE_SUM,
                                  .count = (uint32_t)(bytes / sizeof(float))};

    if (node->rank != 0) {
        psd_node_send(node, &message, 0, PSD_SEND_CONTROL, 0,
                      (struct psd_span){data, bytes * node->n_hosted}, (struct psd_span){0});
        return PSD_OK;
    }
    PSD_TRY(join(node, number, 0, bytes));
    if (bytes)
        memcpy(rows_of(node, gathering_of(node, number), 0), data, bytes * node->n_hosted);
    count_in(node, gathering_of(node, number));
    return PSD_OK;
}

psd_status psd_collect_begin(struct psd_node *node, enum psd_collective kind)
{
    struct psd_collects *collects = &node->collects;

    if (node->ended)
        return psd_fail(PSD_EPEER, "the job has ended");
    if (collects->waiting)
        return psd_fail(PSD_EINVAL,
                        "another thread is in a reduce, barrier, broadcast or save of state");
    collects->next[kind]++;
    collects->waiting = true;
    collects->kind = kind;
    return psd_leave_check_collect(node);
}

psd_status psd_node_collect(struct psd_node *node, enum psd_collective kind, void *data,
                            size_t bytes)
{
    struct psd_collects *collects = &node->collects;
    uint64_t number = collects->next[kind];

    PSD_TRY(psd_collect_begin(node, kind));
    collects->data = data;
    collects->bytes = bytes;
    psd_shared_flush(node);
    psd_status status = kind == PSD_COLLECTIVE_SUM ? give(node, number, data, bytes)
                                                   : psd_collect_copy(node, number);
    if (status == PSD_ENOMEM) { /* it has not been called */
        collects->next[kind]--;
        collects->waiting = false;
    }
    return status;
}

static psd_status place_give(struct psd_node *node, const struct psd_message *message,
                             struct psd_place *place)
{
    size_t bytes = message->count * sizeof(float);

    if (node->rank != 0 || message->count > PSD_COMM_REDUCE_MOST ||
        message->length != bytes * psd_job_hosted(node->job, message->from))
        return psd_fail(PSD_EPEER, "rank %u gives %llu bytes to a collective", message->from,
                        (unsigned long long)message->length);
    PSD_TRY(join(node, message->iteration, message->from, bytes));
    if (bytes)
        place->spans[0].data = rows_of(node, gathering_of(node, message->iteration), message->from);
    place->spans[0].bytes = message->length;
    return PSD_OK;
}

static psd_status place_take(struct psd_node *node, const struct psd_message *message,
                             struct psd_place *place)
{
    struct psd_collects *collects = &node->collects;

    if (message->from != 0 || !collects->waiting || collects->is_coming ||
        collects->kind != PSD_COLLECTIVE_SUM ||
        collects->next[PSD_COLLECTIVE_SUM] != message->iteration + 1 ||
        collects->bytes != message->length)
        return psd_fail(PSD_EPEER, "rank %u gives back a sum that rank %u does not wait for",
                        message->from, node->rank);
    collects->is_coming = true;
    place->spans[0].data = collects->data;
    place->spans[0].bytes = message->length;
    return PSD_OK;
}

psd_status psd_collect_place(struct psd_node *node, const struct psd_message *message,
                             struct psd_place *place)
{
    bool gives = message->kind == PSD_MESSAGE_GIVE;

    if (message->subject == PSD_COLLECTIVE_SUM)
        return gives ? place_give(node, message, place) : place_take(node, message, place);
    if (message->subject == PSD_COLLECTIVE_COPY)
        return gives ? psd_collect_place_call(node, message)
                     : psd_collect_place_copy(node, message, place);
    return psd_fail(PSD_EPEER, "there is no collective of kind %u to %s", message->subject,
                    psd_message_name(message->kind));
}

void psd_collect_arrived(struct psd_node *node, const struct psd_message *message)
{
    bool gives = message->kind == PSD_MESSAGE_GIVE;

    if (message->subject == PSD_COLLECTIVE_COPY && gives)
        psd_collect_arrived_call(node, message);
    else if (message->subject == PSD_COLLECTIVE_COPY)
        psd_collect_arrived_copy(node, message);
    else if (gives)
        count_in(node, gathering_of(node, message->iteration));
    else
        psd_collect_done(node);
}

static unsigned missing_rank(const struct psd_node *node)
{
    const struct psd_collects *collects = &node->collects;
    const struct psd_gathering *gathering =
        &collects->gatherings[(collects->next[PSD_COLLECTIVE_SUM] - 1) & 1];
    unsigned rank = 0;

    while (rank + 1 < node->job->ranks && gathering->here[rank])
        rank++;
    return rank;
}

void psd_collect_overdue(const struct psd_node *node, char *sentence, size_t size)
{
    if (node->collects.kind == PSD_COLLECTIVE_STATE)
        psd_state_overdue(node, sentence, size);
    else if (node->collects.kind == PSD_COLLECTIVE_COPY)
        psd_collect_overdue_copy(node, sentence, size);
    else if (node->rank != 0)
        snprintf(sentence, size, "rank %u waits in a reduce or barrier for all others", node->rank);
    else
        snprintf(sentence, size, "rank 0 waits in a reduce or barrier: rank %u is not there",
                 missing_rank(node));
}
