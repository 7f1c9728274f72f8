/* exchange_rebuild.c - when all factors are here: products of chunks of rows, and the rule. */
#include "base/alloc.h"
#include "comm/node_state.h"

#include <string.h>

enum {
    CHUNK = 2 << 20, /* bytes of a chunk, or so many rows as below */
    AT_ONCE = 128    /* rows of one product: fewer would cost more each (math/product.h) */
};

static psd_status init_scratch(struct psd_exchange *exchange)
{
    struct psd_node *node = exchange->node;
    size_t rows = psd_exchange_rows(exchange), most = rows < AT_ONCE ? rows : AT_ONCE;
    size_t room = most * psd_exchange_weight(exchange)->cols;

    for (size_t i = 0; i < PSD_EXCHANGE_WORKS; i++) {
        struct psd_exchange_work *work = &exchange->works[i];
        work->exchange = exchange;
        work->blocks = psd_alloc_zero(node->job->workers, sizeof *work->blocks);
        if (!work->blocks)
            return PSD_ENOMEM;
        if (node->job->mode == PSD_COMM_UPDATE)
            PSD_TRY(psd_node_floats(node, room > rows ? room : rows, &work->scratch));
    }
    return PSD_OK;
}

static psd_status init_states(struct psd_exchange *exchange)
{
    struct psd_node *node = exchange->node;

    for (unsigned i = 0; i < psd_job_states(node->job); i++) {
        PSD_TRY(psd_node_floats(node,
                                psd_exchange_rows(exchange) * psd_exchange_weight(exchange)->cols,
                                &exchange->states[i]));
        if (exchange->bias != SIZE_MAX)
            PSD_TRY(psd_node_floats(node, psd_exchange_rows(exchange), &exchange->bias_states[i]));
    }
    return PSD_OK;
}

/* The first piece of `param` that is ours, and how many follow; they are consecutive. */
static uint32_t own_pieces(const struct psd_node *node, size_t param, uint32_t *first)
{
    const struct psd_layout_param *at = &node->layout->params[param];
    uint32_t count = 0;

    for (uint32_t i = at->first_piece; i < at->first_piece + at->pieces; i++) {
        if (node->layout->pieces[i].server == node->rank && count++ == 0)
            *first = i;
    }
    return count;
}

/* A chunk has as many rows as one product takes well, in whole tiles or whole pieces. */
static void cut_chunks(struct psd_exchange *exchange)
{
    const struct psd_node *node = exchange->node;
    size_t cols = psd_exchange_weight(exchange)->cols, rows = CHUNK / (cols * sizeof(float));

    rows = rows > AT_ONCE ? rows - rows % PSD_PRODUCT_ROWS : AT_ONCE;
    if (psd_exchange_is_broadcast(exchange)) {
        exchange->chunk_rows = rows;
        exchange->chunks = (psd_exchange_rows(exchange) + rows - 1) / rows;
    } else if (psd_exchange_rows(exchange) > 0) {
        exchange->pieces = own_pieces(node, exchange->param, &exchange->first_piece);
        size_t of_piece = node->layout->pieces[exchange->first_piece].count / cols;
        exchange->chunk_pieces = of_piece < rows ? rows / of_piece : 1;
        exchange->chunks = (exchange->pieces + exchange->chunk_pieces - 1) / exchange->chunk_pieces;
        if (exchange->bias != SIZE_MAX)
            own_pieces(node, exchange->bias, &exchange->bias_piece);
    }
    if (psd_exchange_rows(exchange) > 0 && exchange->bias != SIZE_MAX)
        exchange->chunks++;
}

psd_status psd_exchange_init_works(struct psd_exchange *exchange)
{
    cut_chunks(exchange);
    PSD_TRY(init_scratch(exchange));
    return init_states(exchange);
}

void psd_exchange_fini_works(struct psd_exchange *exchange)
{
    for (size_t i = 0; i < PSD_EXCHANGE_WORKS; i++) {
        psd_alloc_free(exchange->works[i].scratch);
        psd_alloc_free(exchange->works[i].blocks);
    }
    for (size_t i = 0; i < 4; i++) {
        psd_alloc_free(exchange->states[i]);
        psd_alloc_free(exchange->bias_states[i]);
    }
}

static bool is_bias(const struct psd_exchange_work *work)
{
    return work->exchange->bias != SIZE_MAX && work->chunk + 1 == work->exchange->chunks;
}

/* The pieces of a chunk on a sharded route: from `first` to, but without, `end`. */
static void chunk_pieces(const struct psd_exchange_work *work, uint32_t *first, uint32_t *end)
{
    const struct psd_exchange *exchange = work->exchange;
    size_t from = work->chunk * exchange->chunk_pieces, to = from + exchange->chunk_pieces;

    *first = exchange->first_piece + (uint32_t)from;
    *end = exchange->first_piece + (uint32_t)(to < exchange->pieces ? to : exchange->pieces);
}

/* The rows of a chunk. */
static struct psd_rows chunk_rows(const struct psd_exchange_work *work)
{
    const struct psd_exchange *exchange = work->exchange;
    const struct psd_layout *layout = exchange->node->layout;
    size_t cols = psd_exchange_weight(exchange)->cols;
    uint32_t piece, last;

    if (is_bias(work))
        return exchange->rows;
    if (psd_exchange_is_broadcast(exchange)) {
        size_t first = exchange->rows.first + work->chunk * exchange->chunk_rows;
        size_t end = first + exchange->chunk_rows;
        return (struct psd_rows){first, end < exchange->rows.end ? end : exchange->rows.end};
    }
    chunk_pieces(work, &piece, &last);
    const struct psd_part *from = &layout->parts[layout->pieces[piece].first_part];
    const struct psd_part *to = &layout->parts[layout->pieces[last - 1].first_part];
    return (struct psd_rows){from->first / cols, (to->first + to->count) / cols};
}

/* The factors with u from row `first` on. */
static void aim(struct psd_exchange_work *work, size_t first)
{
    struct psd_exchange *exchange = work->exchange;
    const struct psd_gather *gather = psd_exchange_gather(exchange, exchange->iteration);

    for (unsigned w = 0; w < exchange->node->job->workers; w++) {
        work->blocks[w] = gather->blocks[w];
        work->blocks[w].u += first - exchange->rows.first;
    }
}

static void run_bias(struct psd_exchange_work *work)
{
    struct psd_exchange *exchange = work->exchange;
    const struct psd_node *node = exchange->node;
    float *value = node->syncers.all[exchange->bias].value + exchange->rows.first;
    float *sums = work->scratch ? work->scratch : value;

    aim(work, exchange->rows.first);
    psd_product_bias(work->blocks, node->job->workers, psd_exchange_rows(exchange), sums);
    psd_node_apply(node, exchange->bias, exchange->iteration, exchange->rows.first,
                   psd_exchange_rows(exchange), sums, exchange->bias_states, 0);
}

static void run_rows(struct psd_exchange_work *work, size_t first, size_t rows)
{
    struct psd_exchange *exchange = work->exchange;
    const struct psd_node *node = exchange->node;
    size_t cols = psd_exchange_weight(exchange)->cols;
    float *value = node->syncers.all[exchange->param].value + first * cols;
    float *gradient = work->scratch ? work->scratch : value;

    aim(work, first);
    psd_product_rows(work->blocks, node->job->workers, rows, cols, gradient);
    psd_node_apply(node, exchange->param, exchange->iteration, first * cols, rows * cols, gradient,
                   exchange->states, (first - exchange->rows.first) * cols);
}

static void run_chunk(struct psd_work *order)
{
    struct psd_exchange_work *work = order->owner;
    struct psd_rows rows = chunk_rows(work);

    if (is_bias(work)) {
        run_bias(work);
        return;
    }
    for (size_t first = rows.first; first < rows.end; first += AT_ONCE) {
        size_t left = rows.end - first;
        run_rows(work, first, left < AT_ONCE ? left : AT_ONCE);
    }
}

static void next_chunk(struct psd_exchange_work *work);
/* The pieces of a chunk are fresh here, and the others get them. */
static void publish(struct psd_exchange_work *work)
{
    struct psd_exchange *exchange = work->exchange;
    struct psd_node *node = exchange->node;
    uint32_t piece = exchange->bias_piece, end = piece + 1;

    if (!is_bias(work))
        chunk_pieces(work, &piece, &end);
    for (; piece < end; piece++) {
        psd_shard_publish(node, piece, 0, 1, exchange->iteration, PSD_MESSAGE_VALUE);
        psd_syncer_fresh(node, node->layout->pieces[piece].first_part);
    }
}

/* What is rebuilt is fresh: for all on a sharded route, else for this rank when all of it is. */
static void release(struct psd_exchange_work *work)
{
    struct psd_exchange *exchange = work->exchange;
    struct psd_node *node = exchange->node;
    size_t weights = exchange->chunks - (exchange->bias != SIZE_MAX);

    if (!psd_exchange_is_broadcast(exchange))
        publish(work);
    else if (is_bias(work))
        psd_syncer_all_fresh(node, exchange->bias);
    else if (++exchange->weights_done == weights)
        psd_syncer_all_fresh(node, exchange->param);
}

static void chunk_done(struct psd_work *order)
{
    struct psd_exchange_work *work = order->owner;
    struct psd_exchange *exchange = work->exchange;

    if (++exchange->done == exchange->chunks) { /* the factors may be overwritten */
        exchange->rebuilt = true;
        psd_exchange_empty(exchange);
    }
    release(work);
    if (exchange->next < exchange->chunks)
        next_chunk(work);
}

static void next_chunk(struct psd_exchange_work *work)
{
    struct psd_exchange *exchange = work->exchange;
    struct psd_node *node = exchange->node;

    work->chunk = exchange->next++;
    struct psd_rows rows = chunk_rows(work);
    size_t values =
        (rows.end - rows.first) * (is_bias(work) ? 1 : psd_exchange_weight(exchange)->cols);
    size_t param = is_bias(work) ? exchange->bias : exchange->param;
    work->work = (struct psd_work){.kind = PSD_WORK_REBUILD,
                                   .param = (uint32_t)param,
                                   .urgency = psd_node_urgency(node, param),
                                   .bytes = (double)(values * sizeof(float)),
                                   .flops = (is_bias(work) ? 0 : 2.0) * (double)values *
                                            (double)psd_job_samples(node->job),
                                   .run = node->sizes_only ? NULL : run_chunk,
                                   .done = chunk_done,
                                   .owner = work};
    psd_node_order(node, &work->work);
}

void psd_exchange_rebuild(struct psd_exchange *exchange)
{
    exchange->ready = false;
    exchange->next = 0;
    exchange->done = 0;
    exchange->weights_done = 0;
    for (size_t i = 0; i < PSD_EXCHANGE_WORKS && exchange->next < exchange->chunks; i++)
        next_chunk(&exchange->works[i]);
}

const struct psd_product_block *psd_exchange_blocks(struct psd_exchange *exchange)
{
    return psd_exchange_gather(exchange, exchange->iteration)->blocks;
}

void psd_exchange_update_all(struct psd_node *node)
{
    for (size_t i = 0; i < node->exchanges.count; i++) {
        if (node->exchanges.all[i].ready)
            psd_exchange_rebuild(&node->exchanges.all[i]);
    }
}
