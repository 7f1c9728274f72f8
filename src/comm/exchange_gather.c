/* exchange_gather.c - everybody's factors, worker by worker, until all of an iteration are here. */
#include "base/alloc.h"
#include "comm/node_state.h"

#include <string.h>

struct psd_gather *psd_exchange_gather(struct psd_exchange *exchange, uint64_t iteration)
{
    return &exchange->gathers[psd_exchange_is_broadcast(exchange) ? iteration & 1 : 0];
}

/* Whether the block of `worker` lies in the gather's own memory. */
static bool is_gathered(const struct psd_exchange *exchange, unsigned worker)
{
    return psd_exchange_is_broadcast(exchange) ||
           exchange->node->job->host[worker] != exchange->node->rank;
}

float *psd_exchange_block(const struct psd_exchange *exchange, const struct psd_gather *gather,
                          unsigned worker)
{
    size_t before = 0;

    for (unsigned w = 0; w < worker; w++)
        before += is_gathered(exchange, w) ? exchange->node->job->batch[w] : 0;
    return gather->memory +
           before * (psd_exchange_rows(exchange) + psd_exchange_weight(exchange)->cols);
}

static void lay_blocks(const struct psd_exchange *exchange, struct psd_gather *gather)
{
    const struct psd_node *node = exchange->node;
    const struct psd_job *job = node->job;

    for (unsigned w = 0; w < job->workers; w++) {
        struct psd_product_block *block = &gather->blocks[w];
        size_t batch = job->batch[w];
        *block =
            (struct psd_product_block){.u_stride = psd_exchange_rows(exchange), .count = batch};
        if (node->sizes_only)
            continue;
        if (is_gathered(exchange, w)) {
            block->u = psd_exchange_block(exchange, gather, w);
            block->v = block->u + batch * psd_exchange_rows(exchange);
        } else {
            const float *own = exchange->own[psd_node_hosted_index(node, w)];
            block->u = own + batch * exchange->rows.first;
            block->v = own + batch * psd_exchange_weight(exchange)->rows;
        }
    }
}

static psd_status init_gather(struct psd_exchange *exchange, struct psd_gather *gather)
{
    struct psd_node *node = exchange->node;
    size_t samples = 0;

    gather->missing = exchange->cuts;
    gather->here = psd_alloc_zero(node->job->workers, sizeof *gather->here);
    gather->came = psd_alloc_zero(node->job->workers, sizeof *gather->came);
    gather->blocks = psd_alloc_zero(node->job->workers, sizeof *gather->blocks);
    if (!gather->here || !gather->came || !gather->blocks)
        return PSD_ENOMEM;
    for (unsigned w = 0; w < node->job->workers; w++)
        samples += is_gathered(exchange, w) ? node->job->batch[w] : 0;
    PSD_TRY(psd_node_floats(
        node, samples * (psd_exchange_rows(exchange) + psd_exchange_weight(exchange)->cols),
        &gather->memory));
    lay_blocks(exchange, gather);
    return PSD_OK;
}

psd_status psd_exchange_init_gathers(struct psd_exchange *exchange)
{
    const struct psd_job *job = exchange->node->job;

    for (unsigned w = 0; w < job->workers; w++)
        exchange->cuts += psd_exchange_cut(exchange, w, psd_exchange_rows(exchange)).count;
    PSD_TRY(init_gather(exchange, &exchange->gathers[0]));
    if (psd_exchange_is_broadcast(exchange))
        PSD_TRY(init_gather(exchange, &exchange->gathers[1]));
    return PSD_OK;
}

void psd_exchange_fini_gathers(struct psd_exchange *exchange)
{
    for (size_t i = 0; i < 2; i++) {
        psd_alloc_free(exchange->gathers[i].here);
        psd_alloc_free(exchange->gathers[i].came);
        psd_alloc_free(exchange->gathers[i].memory);
        psd_alloc_free(exchange->gathers[i].blocks);
    }
}

/* Cuts of a worker's factors, as bits, are here or will be. */
static void expect(struct psd_gather *gather, unsigned worker, uint64_t iteration, uint64_t cuts)
{
    gather->iteration = iteration;
    gather->here[worker] |= cuts;
    gather->known += (size_t)__builtin_popcountll(cuts);
}

/* Cuts of a worker's factors, as bits, are in the gather. */
static void count(struct psd_exchange *exchange, struct psd_gather *gather, unsigned worker,
                  uint64_t cuts)
{
    gather->came[worker] |= cuts;
    gather->missing -= (size_t)__builtin_popcountll(cuts);
    if (gather->missing)
        return;
    exchange->ready = true;
    exchange->iteration = gather->iteration;
    if (psd_clip_lets(exchange->node, exchange))
        psd_exchange_rebuild(exchange);
}

/* Whether these cuts of `worker`'s factors of `iteration` may come now. */
static bool is_due(const struct psd_exchange *exchange, const struct psd_gather *gather,
                   unsigned worker, uint64_t iteration, uint64_t cuts)
{
    const struct psd_syncer *own = &exchange->node->syncers.all[exchange->param];
    uint64_t next = exchange->rebuilt ? exchange->iteration + 1 : own->iteration;

    if (gather->known)
        return gather->iteration == iteration && !(gather->here[worker] & cuts);
    if (!exchange->rebuilt && !own->synced)
        return true; /* who comes first says which iteration it is */
    return iteration - next <= psd_exchange_is_broadcast(exchange);
}

/* The iteration that others are in, judged by what they have sent before our own factors of
 * `iteration`, which they need to go on. */
static uint64_t others_are_in(struct psd_exchange *exchange, uint64_t iteration)
{
    const struct psd_gather *gather = psd_exchange_gather(exchange, iteration);
    const struct psd_gather *next = psd_exchange_gather(exchange, iteration + 1);

    if (gather->known)
        return gather->iteration;
    return next->known && next->iteration > iteration ? next->iteration : iteration;
}

void psd_exchange_give(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration)
{
    struct psd_exchange *exchange = psd_exchange_find(node, param);
    struct psd_gather *gather = psd_exchange_gather(exchange, iteration);
    uint64_t all = psd_cut_all(psd_exchange_cut(exchange, worker, psd_exchange_rows(exchange)));

    psd_exchange_send(exchange, worker, iteration);
    if (psd_exchange_rows(exchange) == 0)
        return;
    if (others_are_in(exchange, iteration) != iteration) {
        psd_node_mistake(node, PSD_EINVAL,
                         "rank %u syncs factors of %s in iteration %llu, where others are in %llu",
                         node->rank, node->job->params[param].name, (unsigned long long)iteration,
                         (unsigned long long)others_are_in(exchange, iteration));
        return;
    }
    expect(gather, worker, iteration, all);
    count(exchange, gather, worker, all);
}

static uint64_t bit(uint32_t cut)
{
    return UINT64_C(1) << cut;
}

psd_status psd_exchange_place(struct psd_node *node, const struct psd_message *message,
                              struct psd_place *place)
{
    struct psd_exchange *exchange = psd_exchange_find(node, message->subject);

    if (!exchange || psd_exchange_rows(exchange) == 0 || message->which >= node->job->workers ||
        node->job->host[message->which] != message->from)
        return psd_fail(PSD_EPEER, "factors of parameter %u and worker %u are not for rank %u",
                        message->subject, message->which, node->rank);
    struct psd_gather *gather = psd_exchange_gather(exchange, message->iteration);
    struct psd_cut cut = psd_exchange_cut(exchange, message->which, psd_exchange_rows(exchange));
    if (message->first >= cut.count || message->length != psd_cut_length(cut, message->first))
        return psd_fail(PSD_EPEER, "factors of %s come in %u messages; number %u has %llu bytes",
                        psd_exchange_weight(exchange)->name, cut.count, message->first,
                        (unsigned long long)message->length);
    if (!is_due(exchange, gather, message->which, message->iteration, bit(message->first)))
        return psd_fail(PSD_EPEER, "rank %u sends factors of %s of iteration %llu out of turn",
                        message->from, psd_exchange_weight(exchange)->name,
                        (unsigned long long)message->iteration);
    expect(gather, message->which, message->iteration, bit(message->first));
    place->spans[0].bytes = message->length;
    if (!node->sizes_only)
        place->spans[0].data = psd_exchange_block(exchange, gather, message->which) +
                               psd_cut_begin(cut, message->first) / sizeof(float);
    return PSD_OK;
}

void psd_exchange_arrived(struct psd_node *node, const struct psd_message *message)
{
    struct psd_exchange *exchange = psd_exchange_find(node, message->subject);

    count(exchange, psd_exchange_gather(exchange, message->iteration), message->which,
          bit(message->first));
}

void psd_exchange_empty(struct psd_exchange *exchange)
{
    struct psd_gather *gather = psd_exchange_gather(exchange, exchange->iteration);
    unsigned workers = exchange->node->job->workers;

    gather->known = 0;
    gather->missing = exchange->cuts;
    memset(gather->here, 0, workers * sizeof *gather->here);
    memset(gather->came, 0, workers * sizeof *gather->came);
}

bool psd_exchange_awaits(const struct psd_node *node, size_t param, unsigned rank,
                         uint64_t iteration)
{
    struct psd_exchange *exchange = psd_exchange_find(node, param);
    const struct psd_gather *gather = psd_exchange_gather(exchange, iteration);

    if (psd_exchange_rows(exchange) == 0 || (exchange->rebuilt && exchange->iteration >= iteration))
        return false;
    for (unsigned w = 0; w < node->job->workers; w++) {
        if (node->job->host[w] == rank &&
            gather->came[w] !=
                psd_cut_all(psd_exchange_cut(exchange, w, psd_exchange_rows(exchange))))
            return true;
    }
    return false;
}

uint32_t psd_exchange_missing(const struct psd_node *node, size_t param, uint64_t iteration)
{
    struct psd_exchange *exchange = psd_exchange_find(node, param);

    if (!exchange || psd_exchange_rows(exchange) == 0)
        return UINT32_MAX;
    const struct psd_gather *gather = psd_exchange_gather(exchange, iteration);
    if (gather->missing == 0 || (exchange->rebuilt && exchange->iteration >= iteration))
        return UINT32_MAX;
    for (unsigned w = 0; w < node->job->workers; w++) {
        if (gather->here[w] !=
            psd_cut_all(psd_exchange_cut(exchange, w, psd_exchange_rows(exchange))))
            return w;
    }
    return UINT32_MAX;
}
