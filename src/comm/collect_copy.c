/* collect_copy.c - copies: what the host of worker 0 has, for all.
 *
 *     rank 1   calls for copy 4 --- give: 4 ---> rank 0   knows that rank 1 has called for it
 *     rank 0   calls for copy 4 --- take: 4 ---> rank 1   straight to where it is wanted
 *     rank 0   calls for copy 5 --- take: 5 ---> rank 1   early: kept until it calls, too
 *
 * Nobody may make a member take memory without limit. So the giver is a few short copies ahead of a
 * member at most, and a long one waits until it is called for. */
#include "base/alloc.h"
#include "comm/collect.h"
#include "comm/node_state.h"

#include <stdio.h>
#include <string.h>

struct psd_early {
    struct psd_early *next; /* owned */
    uint64_t number;
    bool is_whole;
    size_t bytes;
    unsigned char data[];
};

psd_status psd_collect_init_copies(struct psd_node *node)
{
    struct psd_collects *collects = &node->collects;

    if (node->rank != node->job->host[0])
        return PSD_OK;
    collects->called = psd_alloc_zero(node->job->ranks, sizeof *collects->called);
    collects->owed = psd_alloc_zero(node->job->ranks, sizeof *collects->owed);
    return collects->called && collects->owed ? PSD_OK : PSD_ENOMEM;
}

void psd_collect_fini_copies(struct psd_node *node)
{
    struct psd_early *next;

    for (struct psd_early *early = node->collects.early; early; early = next) {
        next = early->next;
        psd_alloc_free(early);
    }
    psd_alloc_free(node->collects.called);
    psd_alloc_free(node->collects.owed);
}

/* Where the early copy of that number is linked, or would be. */
static struct psd_early **find(struct psd_node *node, uint64_t number)
{
    struct psd_early **at = &node->collects.early;

    while (*at && (*at)->number < number)
        at = &(*at)->next;
    return at;
}

/* Whether a member that has made `called` calls has a place for the copy. */
static bool has_place(uint64_t called, uint64_t number, uint64_t bytes)
{
    if (number < called)
        return true;
    return number - called < PSD_COLLECT_AHEAD && bytes <= PSD_COLLECT_EARLY;
}

/* The copy that is under way here goes to a member, at once or when it has a place. */
static void give(struct psd_node *node, unsigned to)
{
    struct psd_collects *collects = &node->collects;
    struct psd_message message = {.kind = PSD_MESSAGE_TAKE,
                                  .iteration = collects->next[PSD_COLLECTIVE_COPY] - 1,
                                  .subject = PSD_COLLECTIVE_COPY};

    collects->owed[to] = !has_place(collects->called[to], message.iteration, collects->bytes);
    if (collects->owed[to])
        return;
    if (!psd_node_send(node, &message, to, PSD_SEND_CONTROL, 0,
                       (struct psd_span){collects->data, collects->bytes}, (struct psd_span){0}))
        collects->copying--;
}

static void give_all(struct psd_node *node)
{
    unsigned ranks = node->job->ranks;

    node->collects.copying = ranks - 1;
    for (unsigned i = 1; i < ranks; i++)
        give(node, (node->rank + i) % ranks);
    if (node->collects.copying == 0)
        psd_collect_done(node);
}

void psd_collect_sent(struct psd_node *node, const struct psd_message *message)
{
    if (message->kind == PSD_MESSAGE_TAKE && message->subject == PSD_COLLECTIVE_COPY &&
        --node->collects.copying == 0)
        psd_collect_done(node);
}

static psd_status check_length(struct psd_node *node, uint64_t bytes)
{
    if (bytes == node->collects.bytes)
        return PSD_OK;
    return psd_node_mistake(node, PSD_EPEER,
                            "rank %u broadcasts %zu bytes where rank %u broadcasts %llu: all ranks "
                            "make the same calls in the same order",
                            node->rank, node->collects.bytes, node->job->host[0],
                            (unsigned long long)bytes);
}

static psd_status take_early(struct psd_node *node, struct psd_early **at)
{
    struct psd_early *early = *at;

    PSD_TRY(check_length(node, early->bytes));
    if (early->bytes)
        memcpy(node->collects.data, early->data, early->bytes);
    *at = early->next;
    psd_alloc_free(early);
    psd_collect_done(node);
    return PSD_OK;
}

psd_status psd_collect_copy(struct psd_node *node, uint64_t number)
{
    struct psd_message call = {
        .kind = PSD_MESSAGE_GIVE, .iteration = number, .subject = PSD_COLLECTIVE_COPY};
    struct psd_early **at = find(node, number);
    bool is_early = *at && (*at)->number == number;

    if (node->rank == node->job->host[0]) {
        give_all(node);
        return PSD_OK;
    }
    psd_node_send(node, &call, node->job->host[0], PSD_SEND_CONTROL, 0, (struct psd_span){0},
                  (struct psd_span){0});
    if (is_early && (*at)->is_whole)
        return take_early(node, at);
    node->collects.is_coming = is_early;
    return PSD_OK;
}

/* Nobody calls for the copy after the next before it has the next. */
psd_status psd_collect_place_call(const struct psd_node *node, const struct psd_message *message)
{
    if (node->rank != node->job->host[0] || message->length || message->count ||
        message->iteration > node->collects.next[PSD_COLLECTIVE_COPY])
        return psd_fail(PSD_EPEER, "rank %u calls for broadcast %llu, which rank %u does not give",
                        message->from, (unsigned long long)message->iteration, node->rank);
    return PSD_OK;
}

/* Calls may overtake each other: who has made the later one has made the earlier ones, too. */
void psd_collect_arrived_call(struct psd_node *node, const struct psd_message *message)
{
    uint64_t *called = &node->collects.called[message->from];

    if (*called <= message->iteration)
        *called = message->iteration + 1;
    if (node->collects.owed[message->from])
        give(node, message->from);
}

static psd_status place_early(struct psd_node *node, const struct psd_message *message,
                              struct psd_place *place)
{
    struct psd_early **at = find(node, message->iteration);

    if (*at && (*at)->number == message->iteration)
        return psd_fail(PSD_EPEER, "a broadcast of rank %u comes twice", message->from);
    if (!has_place(node->collects.next[PSD_COLLECTIVE_COPY], message->iteration, message->length))
        return psd_fail(PSD_EPEER, "a broadcast of %llu bytes comes before rank %u calls for it",
                        (unsigned long long)message->length, node->rank);
    struct psd_early *early = psd_alloc(sizeof *early + message->length);
    if (!early)
        return PSD_ENOMEM;
    *early =
        (struct psd_early){.next = *at, .number = message->iteration, .bytes = message->length};
    *at = early;
    place->spans[0].data = early->data;
    place->spans[0].bytes = message->length;
    return PSD_OK;
}

psd_status psd_collect_place_copy(struct psd_node *node, const struct psd_message *message,
                                  struct psd_place *place)
{
    struct psd_collects *collects = &node->collects;
    bool waits = collects->waiting && collects->kind == PSD_COLLECTIVE_COPY;
    uint64_t wanted = collects->next[PSD_COLLECTIVE_COPY] - waits;

    if (message->from != node->job->host[0] || message->iteration < wanted ||
        (message->iteration == wanted && waits && collects->is_coming))
        return psd_fail(PSD_EPEER, "rank %u broadcasts out of turn", message->from);
    if (!waits || message->iteration > wanted)
        return place_early(node, message, place);
    PSD_TRY(check_length(node, message->length));
    collects->is_coming = true;
    place->spans[0].data = collects->data;
    place->spans[0].bytes = message->length;
    return PSD_OK;
}

void psd_collect_arrived_copy(struct psd_node *node, const struct psd_message *message)
{
    const struct psd_collects *collects = &node->collects;
    struct psd_early **at = find(node, message->iteration);

    if (!*at || (*at)->number != message->iteration) {
        psd_collect_done(node);
        return;
    }
    (*at)->is_whole = true;
    if (collects->waiting && collects->kind == PSD_COLLECTIVE_COPY &&
        collects->next[PSD_COLLECTIVE_COPY] == message->iteration + 1)
        (void)take_early(node, at); /* it was called for on the way */
}

void psd_collect_overdue_copy(const struct psd_node *node, char *sentence, size_t size)
{
    unsigned giver = node->job->host[0], rank = 0;

    while (node->rank == giver && rank < node->job->ranks && !node->collects.owed[rank])
        rank++;
    if (node->rank != giver)
        snprintf(sentence, size, "rank %u waits in a broadcast for what rank %u has to give",
                 node->rank, giver);
    else if (rank < node->job->ranks)
        snprintf(sentence, size, "rank %u waits in a broadcast: rank %u is not there", giver, rank);
    else
        snprintf(sentence, size, "rank %u waits in a broadcast: what it gives is on its way",
                 giver);
}
