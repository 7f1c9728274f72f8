/* exchange_send.c - own factors, on their way to all who rebuild with them.
 *
 *     u of 3 samples, rows of ranks 0 1 2      [ 0 | 1 | 2 ] [ 0 | 1 | 2 ] [ 0 | 1 | 2 ]
 *     packed by receiver, then v               [ 0 . 0 . 0 | 1 . 1 . 1 | 2 . 2 . 2 | v . v . v ]
 *
 * On the broadcast route everybody gets all of u, and they lie where they are gathered. */
#include "base/alloc.h"
#include "comm/node_state.h"

#include <string.h>

/* Own factors are packed once: u by receiver, then v. */
psd_status psd_exchange_init_own(struct psd_exchange *exchange)
{
    struct psd_node *node = exchange->node;
    size_t width = psd_exchange_weight(exchange)->rows + psd_exchange_weight(exchange)->cols,
           at = 0;

    exchange->own = psd_alloc_zero(node->n_hosted, sizeof *exchange->own);
    if (!exchange->own)
        return PSD_ENOMEM;
    PSD_TRY(psd_node_floats(node, psd_job_samples_of(node->job, node->rank) * width,
                            &exchange->staging));
    for (unsigned i = 0; i < node->n_hosted && exchange->staging; i++) {
        exchange->own[i] = exchange->staging + at;
        at += node->job->batch[node->hosted[i]] * width;
    }
    return PSD_OK;
}

/* Packs u so that the rows of each receiver lie together. */
static void pack(const struct psd_exchange *exchange, float *own, const float *u, const float *v,
                 size_t batch)
{
    const struct psd_node *node = exchange->node;
    size_t rows = psd_exchange_weight(exchange)->rows;

    for (unsigned rank = 0; rank < node->job->ranks; rank++) {
        struct psd_rows its = psd_layout_rows(node->layout, exchange->param, rank);
        size_t width = its.end - its.first;
        for (size_t k = 0; k < batch; k++)
            memcpy(own + batch * its.first + k * width, u + k * rows + its.first,
                   width * sizeof *u);
    }
    memcpy(own + batch * rows, v, batch * psd_exchange_weight(exchange)->cols * sizeof *v);
}

void psd_exchange_copy(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration,
                       const float *u, const float *v, size_t batch)
{
    struct psd_exchange *exchange = psd_exchange_find(node, param);

    if (node->sizes_only)
        return;
    if (!psd_exchange_is_broadcast(exchange)) {
        pack(exchange, exchange->own[psd_node_hosted_index(node, worker)], u, v, batch);
        return;
    }
    float *at = psd_exchange_block(exchange, psd_exchange_gather(exchange, iteration), worker);
    memcpy(at, u, batch * psd_exchange_weight(exchange)->rows * sizeof *u);
    memcpy(at + batch * psd_exchange_weight(exchange)->rows, v,
           batch * psd_exchange_weight(exchange)->cols * sizeof *v);
}

static struct psd_span slice(const struct psd_exchange *exchange, unsigned worker,
                             const struct psd_gather *gather, struct psd_rows rows)
{
    const struct psd_node *node = exchange->node;
    size_t batch = node->job->batch[worker], width = rows.end - rows.first;
    struct psd_span span = {NULL, batch * width * sizeof(float)};

    if (node->sizes_only)
        return span;
    span.data = psd_exchange_is_broadcast(exchange)
                    ? gather->blocks[worker].u
                    : exchange->own[psd_node_hosted_index(node, worker)] + batch * rows.first;
    return span;
}

static struct psd_span all_of_v(const struct psd_exchange *exchange, unsigned worker,
                                const struct psd_gather *gather)
{
    const struct psd_node *node = exchange->node;
    size_t batch = node->job->batch[worker];
    struct psd_span span = {NULL, batch * psd_exchange_weight(exchange)->cols * sizeof(float)};

    if (node->sizes_only)
        return span;
    span.data = psd_exchange_is_broadcast(exchange)
                    ? gather->blocks[worker].v
                    : exchange->own[psd_node_hosted_index(node, worker)] +
                          batch * psd_exchange_weight(exchange)->rows;
    return span;
}

static void send_to(struct psd_exchange *exchange, struct psd_message *message, unsigned to,
                    struct psd_rows rows)
{
    struct psd_node *node = exchange->node;
    const struct psd_gather *gather = psd_exchange_gather(exchange, message->iteration);
    struct psd_cut cut = psd_exchange_cut(exchange, message->which, rows.end - rows.first);
    struct psd_span u = slice(exchange, message->which, gather, rows);
    struct psd_span v = all_of_v(exchange, message->which, gather);

    for (uint32_t i = 0; i < cut.count; i++) {
        struct psd_span first = psd_cut_span(cut, i, u, 0),
                        second = psd_cut_span(cut, i, v, u.bytes);
        message->first = i;
        psd_node_send(node, message, to, PSD_SEND_PUSH, psd_node_urgency(node, exchange->param),
                      first, second);
    }
}

void psd_exchange_send(struct psd_exchange *exchange, unsigned worker, uint64_t iteration)
{
    const struct psd_node *node = exchange->node;
    struct psd_message message = {.kind = PSD_MESSAGE_FACTORS,
                                  .iteration = iteration,
                                  .subject = (uint32_t)exchange->param,
                                  .which = worker,
                                  .count = 1};

    for (unsigned i = 1; i < node->job->ranks; i++) {
        unsigned to = (node->rank + i) % node->job->ranks;
        struct psd_rows rows = psd_layout_rows(node->layout, exchange->param, to);
        if (rows.first < rows.end)
            send_to(exchange, &message, to, rows);
    }
}

static size_t sends_of(const struct psd_exchange *exchange, unsigned worker)
{
    const struct psd_node *node = exchange->node;
    size_t sends = 0;

    for (unsigned rank = 0; rank < node->job->ranks; rank++) {
        struct psd_rows rows = psd_layout_rows(node->layout, exchange->param, rank);
        if (rank != node->rank && rows.first < rows.end)
            sends += psd_exchange_cut(exchange, worker, rows.end - rows.first).count;
    }
    return sends;
}

/* On the broadcast route we may have the factors of all others, and go on to the next iteration, before
 * they have ours of this one. */
size_t psd_exchange_sends(const struct psd_node *node)
{
    size_t sends = 0;

    for (size_t i = 0; i < node->exchanges.count; i++) {
        const struct psd_exchange *exchange = &node->exchanges.all[i];
        for (unsigned k = 0; k < node->n_hosted; k++)
            sends +=
                sends_of(exchange, node->hosted[k]) * (psd_exchange_is_broadcast(exchange) ? 2 : 1);
    }
    return sends;
}
