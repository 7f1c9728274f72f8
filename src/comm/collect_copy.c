/* collect_copy.c - copies: what the host of worker 0 has, for all.
 *
 *     rank 0   copy 4, copy 5 ---------.
 *     rank 1   ............ early: [4][5]     until it calls for copy 4, and for copy 5
 *
 * The giver is done when its memory is no longer needed, so it may be several copies ahead. */
#include "base/alloc.h"
#include "comm/collect.h"
#include "comm/node_state.h"

#include <string.h>

struct psd_early {
    struct psd_early *next; /* owned */
    uint64_t number;
    bool is_whole;
    size_t bytes;
    unsigned char data[];
};

/* Nobody may make us take memory without limit. */
static const size_t most_early = (size_t)1 << 30;

void psd_collect_fini_copies(struct psd_node *node)
{
    struct psd_early *next;

    for (struct psd_early *early = node->collects.early; early; early = next) {
        next = early->next;
        psd_alloc_free(early);
    }
}

/* Where the early copy of that number is linked, or would be. */
static struct psd_early **find(struct psd_node *node, uint64_t number)
{
    struct psd_early **at = &node->collects.early;

    while (*at && (*at)->number < number)
        at = &(*at)->next;
    return at;
}

static void copy_out(struct psd_node *node, uint64_t number)
{
    struct psd_collects *collects = &node->collects;
    struct psd_message message = {.kind = PSD_MESSAGE_TAKE,
                                  .iteration = number,
                                  .subject = PSD_COLLECTIVE_COPY,
                                  .length = collects->bytes};

    collects->copying = node->job->ranks - 1;
    psd_node_tell(node, &message, PSD_SEND_CONTROL, 0, collects->data, node->rank);
    if (node->job->ranks == 1)
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
    node->collects.early_bytes -= sizeof *early + early->bytes;
    psd_alloc_free(early);
    psd_collect_done(node);
    return PSD_OK;
}

psd_status psd_collect_copy(struct psd_node *node, uint64_t number)
{
    struct psd_early **at = find(node, number);
    bool is_early = *at && (*at)->number == number;

    if (node->rank == node->job->host[0])
        copy_out(node, number);
    else if (is_early && (*at)->is_whole)
        return take_early(node, at);
    node->collects.is_coming = is_early;
    return PSD_OK;
}

static psd_status place_early(struct psd_node *node, const struct psd_message *message,
                              struct psd_place *place)
{
    struct psd_collects *collects = &node->collects;
    struct psd_early **at = find(node, message->iteration);
    size_t room = most_early - collects->early_bytes;

    if ((*at && (*at)->number == message->iteration) || room < sizeof **at ||
        message->length > room - sizeof **at)
        return psd_fail(PSD_EPEER, "a broadcast of %llu bytes comes twice or is too long to keep",
                        (unsigned long long)message->length);
    struct psd_early *early = psd_alloc(sizeof *early + message->length);
    if (!early)
        return PSD_ENOMEM;
    *early =
        (struct psd_early){.next = *at, .number = message->iteration, .bytes = message->length};
    *at = early;
    collects->early_bytes += sizeof *early + message->length;
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
