/* shard_push.c - sums that come, from our own workers and from other members. */
#include "comm/node_state.h"

/* A part of a shared piece may find its slot only by itself, so each input has one there. */
static uint32_t slot_of(const struct psd_node *node, const struct psd_shard *shard, uint32_t input)
{
    return psd_shard_is_shared(node, shard) ? input : node->merge->nodes[input].slot;
}

/* Whether something of `iteration` may come now. */
static bool is_due(const struct psd_shard_part *part, uint64_t iteration)
{
    return !part->known || part->iteration == iteration;
}

/* Puts it into words that `rank` is in another iteration than those who were here first. */
static psd_status fail_iteration(const struct psd_node *node, const struct psd_shard *shard,
                                 uint32_t k, unsigned rank, uint64_t iteration)
{
    return psd_fail(PSD_EPEER, "rank %u syncs %s in iteration %llu, where others are in %llu", rank,
                    node->job->params[psd_shard_part(node, shard, k)->param].name,
                    (unsigned long long)iteration, (unsigned long long)shard->parts[k].iteration);
}

/* It comes: a part's first arrival says which iteration its rounds begin with. */
static void open_round(struct psd_shard_part *part, uint64_t iteration)
{
    part->known = true;
    part->iteration = iteration;
}

void psd_shard_give(struct psd_node *node, uint32_t piece, uint32_t first, uint32_t count,
                    uint32_t input, uint64_t iteration)
{
    struct psd_shard *shard = psd_shard_find(node, piece);
    unsigned hosted = psd_node_hosted_index(node, node->merge->nodes[input].first_worker);

    for (uint32_t k = first; k < first + count; k++) {
        if (!is_due(&shard->parts[k], iteration)) {
            fail_iteration(node, shard, k, node->rank, iteration);
            psd_node_mistake(node, PSD_EINVAL, "%s", psd_error());
            return;
        }
        open_round(&shard->parts[k], iteration);
        psd_shard_arrive(node, shard, k, input, (uint16_t)(shard->n_slots + hosted));
    }
    psd_shard_publish_fresh(node, shard);
}

static psd_status check_push(struct psd_node *node, const struct psd_message *message)
{
    struct psd_shard *shard = psd_shard_find(node, message->subject);

    PSD_TRY(psd_node_check_run(node, message));
    if (!shard)
        return psd_fail(PSD_EPEER, "piece %u is not for rank %u to sum", message->subject,
                        node->rank);
    if (message->which >= node->merge->n_inputs ||
        node->merge->nodes[message->which].rank != message->from)
        return psd_fail(PSD_EPEER, "input %u is not rank %u's", message->which, message->from);
    for (uint32_t k = message->first; k < message->first + message->count; k++) {
        if (!is_due(&shard->parts[k], message->iteration))
            return fail_iteration(node, shard, k, message->from, message->iteration);
        if (shard->parts[k].at[message->which])
            return psd_fail(PSD_EPEER, "rank %u pushes %s of iteration %llu out of turn",
                            message->from,
                            node->job->params[psd_shard_part(node, shard, k)->param].name,
                            (unsigned long long)message->iteration);
    }
    return PSD_OK;
}

/* A part with its piece to itself: added to its sibling on the way, or kept. */
static void place_single(struct psd_node *node, struct psd_shard *shard, uint32_t input,
                         struct psd_place *place)
{
    uint16_t *at = shard->parts[0].at;
    uint32_t sibling = node->merge->nodes[input].sibling;
    uint16_t slot = (uint16_t)slot_of(node, shard, input);

    if (sibling != PSD_MERGE_NONE && psd_shard_is_here(at[sibling])) {
        place->add = true;
        place->spans[0].data = psd_shard_memory(node, shard, 0, psd_shard_place_of(at[sibling]));
        at[sibling] |= PSD_SHARD_BUSY;
        at[input] = PSD_SHARD_ADDING;
    } else if (sibling != PSD_MERGE_NONE && at[sibling] & PSD_SHARD_BUSY &&
               psd_shard_place_of(at[sibling]) == slot) {
        place->later = true;
    } else {
        place->spans[0].data = psd_shard_memory(node, shard, 0, slot);
        at[input] = (uint16_t)(PSD_SHARD_BUSY | (slot + 1));
    }
}

static void place_shared(struct psd_node *node, struct psd_shard *shard,
                         const struct psd_message *message, struct psd_place *place)
{
    uint16_t slot = (uint16_t)slot_of(node, shard, message->which);

    place->spans[0].data = psd_shard_memory(node, shard, message->first, slot);
    for (uint32_t k = message->first; k < message->first + message->count; k++)
        shard->parts[k].at[message->which] = (uint16_t)(PSD_SHARD_BUSY | (slot + 1));
}

psd_status psd_shard_place(struct psd_node *node, const struct psd_message *message,
                           struct psd_place *place)
{
    PSD_TRY(check_push(node, message));
    struct psd_shard *shard = psd_shard_find(node, message->subject);
    place->spans[0].bytes = message->length;
    for (uint32_t k = message->first; k < message->first + message->count; k++)
        open_round(&shard->parts[k], message->iteration);
    if (psd_shard_is_shared(node, shard))
        place_shared(node, shard, message, place);
    else
        place_single(node, shard, message->which, place);
    return PSD_OK;
}

bool psd_shard_adds(const struct psd_node *node, const struct psd_message *message)
{
    const struct psd_shard *shard = psd_shard_find(node, message->subject);

    return shard->parts[message->first].at[message->which] == PSD_SHARD_ADDING;
}

void psd_shard_arrived(struct psd_node *node, const struct psd_message *message)
{
    struct psd_shard *shard = psd_shard_find(node, message->subject);
    uint32_t input = message->which;

    for (uint32_t k = message->first; k < message->first + message->count; k++) {
        uint16_t *at = shard->parts[k].at;
        if (at[input] == PSD_SHARD_ADDING)
            psd_shard_merged(node, shard, k, node->merge->nodes[input].sibling, input);
        else
            psd_shard_arrive(node, shard, k, input, psd_shard_place_of(at[input]));
    }
    psd_shard_publish_fresh(node, shard);
}

uint32_t psd_shard_missing(const struct psd_node *node, size_t part, uint64_t iteration)
{
    const struct psd_shard *shard = psd_shard_find(node, node->layout->parts[part].piece);
    const struct psd_shard_part *round =
        shard ? &shard->parts[part - psd_shard_piece(node, shard)->first_part] : NULL;

    if (!round || (round->known && round->iteration > iteration))
        return UINT32_MAX;
    for (uint32_t i = 0; i < node->merge->n_inputs; i++) {
        if (round->at[i] == 0)
            return node->merge->nodes[i].rank;
    }
    return UINT32_MAX;
}
