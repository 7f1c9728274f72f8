/* shared.c - puts small parameters together, and takes them apart. */
#include "base/alloc.h"
#include "comm/bits.h"
#include "comm/node_state.h"

#include <string.h>

static const struct psd_piece *piece_of(const struct psd_node *node,
                                        const struct psd_shared *shared)
{
    return &node->layout->pieces[shared->piece];
}

static psd_status init_one(struct psd_node *node, struct psd_shared *shared)
{
    size_t count = piece_of(node, shared)->count;

    shared->ready =
        psd_alloc_zero(psd_merge_inputs(node->merge, node->rank), sizeof *shared->ready);
    shared->gone = psd_alloc_zero(psd_merge_inputs(node->merge, node->rank), sizeof *shared->gone);
    if (!shared->ready || !shared->gone)
        return PSD_ENOMEM;
    PSD_TRY(psd_node_floats(node, count * node->n_hosted, &shared->staging));
    return psd_node_floats(node, count, &shared->values);
}

psd_status psd_shared_init(struct psd_node *node)
{
    struct psd_shareds *shareds = &node->shareds;
    const struct psd_layout *layout = node->layout;

    shareds->of_piece = psd_alloc_zero(layout->n_pieces, sizeof *shareds->of_piece);
    if (!shareds->of_piece)
        return PSD_ENOMEM;
    for (size_t i = 0; i < layout->n_pieces; i++) {
        if (layout->pieces[i].parts > 1)
            shareds->of_piece[i] = (uint32_t)++shareds->count;
    }
    shareds->all = psd_alloc_zero(shareds->count, sizeof *shareds->all);
    if (!shareds->all)
        return PSD_ENOMEM;
    for (size_t i = 0; i < layout->n_pieces; i++) {
        if (shareds->of_piece[i]) {
            shareds->all[shareds->of_piece[i] - 1].piece = (uint32_t)i;
            PSD_TRY(init_one(node, &shareds->all[shareds->of_piece[i] - 1]));
        }
    }
    return PSD_OK;
}

void psd_shared_fini(struct psd_node *node)
{
    for (size_t i = 0; node->shareds.all && i < node->shareds.count; i++) {
        struct psd_shared *shared = &node->shareds.all[i];
        psd_alloc_free(shared->staging);
        psd_alloc_free(shared->values);
        psd_alloc_free(shared->ready);
        psd_alloc_free(shared->gone);
    }
    psd_alloc_free(node->shareds.all);
    psd_alloc_free(node->shareds.of_piece);
}

struct psd_shared *psd_shared_find(const struct psd_node *node, size_t part)
{
    uint32_t index = node->shareds.of_piece[node->layout->parts[part].piece];

    return index ? &node->shareds.all[index - 1] : NULL;
}

void psd_shared_stage(struct psd_node *node, size_t part, unsigned hosted, const float *grad)
{
    if (!node->sizes_only)
        memcpy(psd_syncer_grad(node, part, hosted), grad,
               node->layout->parts[part].count * sizeof(float));
}

/* Pushes parts [first, first + count) of the piece. */
static void push_run(struct psd_node *node, struct psd_shared *shared, uint32_t first,
                     uint32_t count, uint32_t input)
{
    const struct psd_piece *piece = piece_of(node, shared);
    size_t part = piece->first_part + first;
    const struct psd_part *from = &node->layout->parts[part], *last = from + count - 1;
    uint64_t iteration = node->syncers.all[from->param].iteration;

    if (piece->server == node->rank) {
        psd_shard_give(node, shared->piece, first, count, input, iteration);
        return;
    }
    struct psd_message message = {.kind = PSD_MESSAGE_PUSH,
                                  .iteration = iteration,
                                  .subject = shared->piece,
                                  .which = input,
                                  .first = first,
                                  .count = count};
    unsigned hosted = psd_node_hosted_index(node, node->merge->nodes[input].first_worker);
    struct psd_span grads = {psd_syncer_grad(node, part, hosted),
                             (last->at + last->count - from->at) * sizeof(float)};
    psd_node_send(node, &message, piece->server, PSD_SEND_PUSH, psd_node_urgency(node, from->param),
                  grads, (struct psd_span){0});
}

/* Pushes what is ready and has not gone, run by run. */
static void push_ready(struct psd_node *node, struct psd_shared *shared, uint32_t input, size_t own)
{
    uint64_t going = shared->ready[own] & ~shared->gone[own];

    shared->gone[own] |= going;
    for (uint32_t first, count; (count = psd_bits_take_run(&going, &first));)
        push_run(node, shared, first, count, input);
}

/* All parts of all inputs have gone: the next iteration starts anew. */
static void close_round(struct psd_node *node, struct psd_shared *shared, uint64_t all)
{
    for (size_t i = 0; i < psd_merge_inputs(node->merge, node->rank); i++) {
        if (shared->gone[i] != all)
            return;
    }
    memset(shared->ready, 0, psd_merge_inputs(node->merge, node->rank) * sizeof *shared->ready);
    memset(shared->gone, 0, psd_merge_inputs(node->merge, node->rank) * sizeof *shared->gone);
    shared->eager = false;
}

void psd_shared_ready(struct psd_node *node, size_t part, uint32_t input, size_t own)
{
    struct psd_shared *shared = psd_shared_find(node, part);
    uint32_t parts = piece_of(node, shared)->parts;
    uint64_t all = psd_bits_all(parts);
    uint64_t bit = UINT64_C(1) << (part - piece_of(node, shared)->first_part);

    shared->ready[own] |= bit;
    if (shared->ready[own] == all || shared->eager || psd_node_awaited(node))
        push_ready(node, shared, input, own);
    close_round(node, shared, all);
}

void psd_shared_flush(struct psd_node *node)
{
    for (size_t i = 0; i < node->shareds.count; i++) {
        struct psd_shared *shared = &node->shareds.all[i];
        for (uint32_t own = 0; own < psd_merge_inputs(node->merge, node->rank); own++) {
            if (shared->ready[own] & ~shared->gone[own]) {
                shared->eager = true;
                push_ready(node, shared, psd_merge_input(node->merge, node->rank, own), own);
            }
        }
    }
}

void psd_shared_copy(struct psd_node *node, struct psd_shared *shared, uint32_t first,
                     uint32_t count, bool out)
{
    size_t part = piece_of(node, shared)->first_part + first;

    if (node->sizes_only)
        return;
    for (size_t end = part + count; part < end; part++) {
        const struct psd_part *p = &node->layout->parts[part];
        float *staged = shared->values + p->at, *value = psd_syncer_value(node, part);
        memcpy(out ? staged : value, out ? value : staged, p->count * sizeof(float));
    }
}
