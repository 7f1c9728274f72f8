/* shard.c - makes shards, knows where each of their sums is, and publishes what is fresh. */
#include "comm/shard.h"
#include "base/alloc.h"
#include "comm/bits.h"
#include "comm/node_state.h"

uint32_t psd_shard_nodes(const struct psd_node *node)
{
    return 2 * node->merge->n_inputs - 1;
}

const struct psd_piece *psd_shard_piece(const struct psd_node *node, const struct psd_shard *shard)
{
    return &node->layout->pieces[shard->piece];
}

bool psd_shard_is_shared(const struct psd_node *node, const struct psd_shard *shard)
{
    return psd_shard_piece(node, shard)->parts > 1;
}

const struct psd_part *psd_shard_part(const struct psd_node *node, const struct psd_shard *shard,
                                      uint32_t k)
{
    return &node->layout->parts[psd_shard_piece(node, shard)->first_part + k];
}

uint16_t psd_shard_place_of(uint16_t at)
{
    return (uint16_t)((at & ~PSD_SHARD_BUSY) - 1);
}

bool psd_shard_is_here(uint16_t at)
{
    return at != 0 && at != PSD_SHARD_GONE && !(at & PSD_SHARD_BUSY);
}

float *psd_shard_memory(const struct psd_node *node, const struct psd_shard *shard, uint32_t k,
                        uint16_t place)
{
    const struct psd_piece *piece = psd_shard_piece(node, shard);

    if (node->sizes_only)
        return NULL;
    if (place < shard->n_slots)
        return shard->slots + place * piece->count + psd_shard_part(node, shard, k)->at;
    return psd_syncer_grad(node, piece->first_part + k, place - shard->n_slots);
}

static bool is_summed(const struct psd_node *node, const struct psd_piece *piece)
{
    return piece->server == node->rank &&
           !psd_job_is_factored(node->job, node->layout->parts[piece->first_part].param);
}

/* What the rule keeps for each value of the piece. */
static unsigned states_of(const struct psd_node *node, const struct psd_piece *piece)
{
    size_t param = node->layout->parts[piece->first_part].param;

    return node->job->params[param].averaged ? 0 : psd_job_states(node->job);
}

static psd_status init_one(struct psd_node *node, struct psd_shard *shard)
{
    const struct psd_piece *piece = psd_shard_piece(node, shard);
    unsigned states = states_of(node, piece);

    shard->n_slots =
        psd_shard_is_shared(node, shard) ? node->merge->n_inputs : node->merge->n_slots;
    shard->parts = psd_alloc_zero(piece->parts, sizeof *shard->parts);
    shard->at = psd_alloc_zero((size_t)piece->parts * psd_shard_nodes(node), sizeof *shard->at);
    if (!shard->parts || !shard->at)
        return PSD_ENOMEM;
    for (uint32_t k = 0; k < piece->parts; k++)
        shard->parts[k].at = shard->at + (size_t)k * psd_shard_nodes(node);
    PSD_TRY(psd_node_floats(node, shard->n_slots * piece->count, &shard->slots));
    for (unsigned i = 0; i < states; i++)
        PSD_TRY(psd_node_floats(node, piece->count, &shard->states[i]));
    return PSD_OK;
}

psd_status psd_shard_init(struct psd_node *node)
{
    struct psd_shards *shards = &node->shards;
    const struct psd_layout *layout = node->layout;

    if (node->merge->n_inputs + node->n_hosted >= PSD_SHARD_GONE)
        return psd_fail(PSD_ENOSUP, "%u sums of %u workers are more than a server can keep apart",
                        node->merge->n_inputs, node->job->workers);
    shards->of_piece = psd_alloc_zero(layout->n_pieces, sizeof *shards->of_piece);
    if (!shards->of_piece)
        return PSD_ENOMEM;
    for (size_t i = 0; i < layout->n_pieces; i++) {
        if (is_summed(node, &layout->pieces[i]))
            shards->of_piece[i] = (uint32_t)++shards->count;
    }
    shards->all = psd_alloc_zero(shards->count, sizeof *shards->all);
    if (!shards->all)
        return PSD_ENOMEM;
    for (size_t i = 0; i < layout->n_pieces; i++) {
        if (shards->of_piece[i]) {
            struct psd_shard *shard = &shards->all[shards->of_piece[i] - 1];
            shard->piece = (uint32_t)i;
            PSD_TRY(init_one(node, shard));
        }
    }
    return PSD_OK;
}

void psd_shard_fini(struct psd_node *node)
{
    struct psd_shards *shards = &node->shards;

    for (size_t i = 0; shards->all && i < shards->count; i++) {
        psd_alloc_free(shards->all[i].parts);
        psd_alloc_free(shards->all[i].at);
        psd_alloc_free(shards->all[i].slots);
        for (unsigned k = 0; k < 4; k++)
            psd_alloc_free(shards->all[i].states[k]);
    }
    psd_alloc_free(shards->all);
    psd_alloc_free(shards->of_piece);
    while (shards->made) {
        struct psd_shard_work *work = shards->made;
        shards->made = work->before;
        psd_alloc_free(work);
    }
}

struct psd_shard *psd_shard_find(const struct psd_node *node, uint32_t piece)
{
    uint32_t index = piece < node->layout->n_pieces ? node->shards.of_piece[piece] : 0;

    return index ? &node->shards.all[index - 1] : NULL;
}

const float *psd_shard_sum(const struct psd_node *node, size_t part)
{
    const struct psd_part *p = &node->layout->parts[part];
    const struct psd_shard *shard = psd_shard_find(node, p->piece);
    uint32_t k = (uint32_t)(part - psd_shard_piece(node, shard)->first_part);

    return psd_shard_memory(node, shard, k, psd_shard_place_of(shard->parts[k].root));
}

void psd_shard_publish(struct psd_node *node, uint32_t piece, uint32_t first, uint32_t count,
                       uint64_t iteration, enum psd_message_kind kind)
{
    size_t part = node->layout->pieces[piece].first_part + first;
    const struct psd_part *from = &node->layout->parts[part], *last = from + count - 1;
    struct psd_shared *shared = psd_shared_find(node, part);
    struct psd_message message = {.kind = kind,
                                  .iteration = iteration,
                                  .subject = piece,
                                  .first = first,
                                  .count = count,
                                  .length = (last->at + last->count - from->at) * sizeof(float)};
    const float *values = psd_syncer_value(node, part);

    if (shared) {
        psd_shared_copy(node, shared, first, count, true);
        values = shared->values ? shared->values + from->at : NULL;
    }
    unsigned told =
        psd_node_tell(node, &message, PSD_SEND_VALUE, psd_node_urgency(node, from->param), values,
                      kind == PSD_MESSAGE_INITIAL ? node->job->host[0] : node->rank);
    if (!shared && kind == PSD_MESSAGE_VALUE)
        psd_syncer_leaves(node, part, told);
}

void psd_shard_publish_fresh(struct psd_node *node, struct psd_shard *shard)
{
    uint64_t fresh = shard->fresh;
    size_t part = psd_shard_piece(node, shard)->first_part;

    shard->fresh = 0;
    for (uint32_t first, count; (count = psd_bits_take_run(&fresh, &first));) {
        psd_shard_publish(node, shard->piece, first, count, shard->parts[first].iteration - 1,
                          PSD_MESSAGE_VALUE);
        for (uint32_t k = first; k < first + count; k++)
            psd_syncer_fresh(node, part + k);
    }
}
