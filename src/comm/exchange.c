/* exchange.c - gathers factors, and rebuilds chunk by chunk when all are there. */
#include "comm/exchange.h"
#include "base/alloc.h"
#include "comm/node_state.h"

#include <string.h>

enum {
    CHUNK = 2 << 20, /* bytes of a chunk, or so many rows as below */
    AT_ONCE = 128    /* rows of one product: fewer would cost more each (math/product.h) */
};

static const struct psd_job_param *weight(const struct psd_exchange *exchange)
{
    return &exchange->node->job->params[exchange->param];
}

static bool is_broadcast(const struct psd_exchange *exchange)
{
    enum psd_route route = weight(exchange)->route;

    return route == PSD_ROUTE_BROADCAST || exchange->node->job->ranks == 1;
}

static size_t own_rows(const struct psd_exchange *exchange)
{
    return exchange->rows.end - exchange->rows.first;
}

static struct psd_gather *gather_of(struct psd_exchange *exchange, uint64_t iteration)
{
    return &exchange->gathers[is_broadcast(exchange) ? iteration & 1 : 0];
}

/* How the factors of `worker` travel to somebody who rebuilds `rows` rows. */
static struct psd_cut cut_of(const struct psd_exchange *exchange, unsigned worker, size_t rows)
{
    size_t floats = exchange->node->job->batch[worker] * (rows + weight(exchange)->cols);

    return psd_cut_of(floats * sizeof(float), exchange->node->layout->most);
}

static struct psd_exchange *find(const struct psd_node *node, size_t param)
{
    uint32_t index = param < node->job->n_params ? node->exchanges.of_param[param] : 0;

    return index ? &node->exchanges.all[index - 1] : NULL;
}

/* Own factors are packed once: u by receiver, then v. */
static psd_status init_staging(struct psd_exchange *exchange)
{
    struct psd_node *node = exchange->node;
    size_t width = weight(exchange)->rows + weight(exchange)->cols, at = 0;

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

/* Whether the block of `worker` lies in the gather's own memory. */
static bool is_gathered(const struct psd_exchange *exchange, unsigned worker)
{
    return is_broadcast(exchange) || exchange->node->job->host[worker] != exchange->node->rank;
}

/* Where that block begins. */
static float *gathered(const struct psd_exchange *exchange, const struct psd_gather *gather,
                       unsigned worker)
{
    size_t before = 0;

    for (unsigned w = 0; w < worker; w++)
        before += is_gathered(exchange, w) ? exchange->node->job->batch[w] : 0;
    return gather->memory + before * (own_rows(exchange) + weight(exchange)->cols);
}

static void lay_blocks(const struct psd_exchange *exchange, struct psd_gather *gather)
{
    const struct psd_node *node = exchange->node;
    const struct psd_job *job = node->job;

    for (unsigned w = 0; w < job->workers; w++) {
        struct psd_product_block *block = &gather->blocks[w];
        size_t batch = job->batch[w];
        *block = (struct psd_product_block){.u_stride = own_rows(exchange), .count = batch};
        if (node->sizes_only)
            continue;
        if (is_gathered(exchange, w)) {
            block->u = gathered(exchange, gather, w);
            block->v = block->u + batch * own_rows(exchange);
        } else {
            const float *own = exchange->own[psd_node_hosted_index(node, w)];
            block->u = own + batch * exchange->rows.first;
            block->v = own + batch * weight(exchange)->rows;
        }
    }
}

static psd_status init_gather(struct psd_exchange *exchange, struct psd_gather *gather)
{
    struct psd_node *node = exchange->node;
    size_t samples = 0;

    gather->missing = exchange->cuts;
    gather->here = psd_alloc_zero(node->job->workers, sizeof *gather->here);
    gather->blocks = psd_alloc_zero(node->job->workers, sizeof *gather->blocks);
    if (!gather->here || !gather->blocks)
        return PSD_ENOMEM;
    for (unsigned w = 0; w < node->job->workers; w++)
        samples += is_gathered(exchange, w) ? node->job->batch[w] : 0;
    PSD_TRY(psd_node_floats(node, samples * (own_rows(exchange) + weight(exchange)->cols),
                            &gather->memory));
    lay_blocks(exchange, gather);
    return PSD_OK;
}

static psd_status init_works(struct psd_exchange *exchange)
{
    struct psd_node *node = exchange->node;
    size_t rows = own_rows(exchange), most = rows < AT_ONCE ? rows : AT_ONCE;
    size_t room = most * weight(exchange)->cols;

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
    unsigned states = node->job->mode == PSD_COMM_UPDATE ? node->job->rule->states : 0;

    for (unsigned i = 0; i < states; i++) {
        PSD_TRY(psd_node_floats(node, own_rows(exchange) * weight(exchange)->cols,
                                &exchange->states[i]));
        if (exchange->bias != SIZE_MAX)
            PSD_TRY(psd_node_floats(node, own_rows(exchange), &exchange->bias_states[i]));
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
    size_t cols = weight(exchange)->cols, rows = CHUNK / (cols * sizeof(float));

    rows = rows > AT_ONCE ? rows - rows % PSD_PRODUCT_ROWS : AT_ONCE;
    if (is_broadcast(exchange)) {
        exchange->chunk_rows = rows;
        exchange->chunks = (own_rows(exchange) + rows - 1) / rows;
    } else if (own_rows(exchange) > 0) {
        exchange->pieces = own_pieces(node, exchange->param, &exchange->first_piece);
        size_t of_piece = node->layout->pieces[exchange->first_piece].count / cols;
        exchange->chunk_pieces = of_piece < rows ? rows / of_piece : 1;
        exchange->chunks = (exchange->pieces + exchange->chunk_pieces - 1) / exchange->chunk_pieces;
        if (exchange->bias != SIZE_MAX)
            own_pieces(node, exchange->bias, &exchange->bias_piece);
    }
    if (own_rows(exchange) > 0 && exchange->bias != SIZE_MAX)
        exchange->chunks++;
}

static psd_status init_one(struct psd_node *node, struct psd_exchange *exchange, size_t param)
{
    exchange->node = node;
    exchange->param = param;
    exchange->bias = SIZE_MAX;
    exchange->rows = psd_layout_rows(node->layout, param, node->rank);
    for (size_t i = param + 1; i < node->job->n_params; i++) {
        if (psd_job_follows(node->job, i) && node->job->params[i].bias_of == (int)param)
            exchange->bias = i;
    }
    cut_chunks(exchange);
    if (!is_broadcast(exchange))
        PSD_TRY(init_staging(exchange));
    if (own_rows(exchange) == 0)
        return PSD_OK;
    for (unsigned w = 0; w < node->job->workers; w++)
        exchange->cuts += cut_of(exchange, w, own_rows(exchange)).count;
    PSD_TRY(init_gather(exchange, &exchange->gathers[0]));
    if (is_broadcast(exchange))
        PSD_TRY(init_gather(exchange, &exchange->gathers[1]));
    PSD_TRY(init_works(exchange));
    return init_states(exchange);
}

static bool is_exchanged(const struct psd_job *job, size_t param)
{
    return psd_job_is_factored(job, param) && !psd_job_follows(job, param);
}

psd_status psd_exchange_init(struct psd_node *node)
{
    struct psd_exchanges *exchanges = &node->exchanges;

    exchanges->of_param = psd_alloc_zero(node->job->n_params, sizeof *exchanges->of_param);
    if (!exchanges->of_param)
        return PSD_ENOMEM;
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (is_exchanged(node->job, i))
            exchanges->of_param[i] = (uint32_t)++exchanges->count;
    }
    exchanges->all = psd_alloc_zero(exchanges->count, sizeof *exchanges->all);
    if (!exchanges->all)
        return PSD_ENOMEM;
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (exchanges->of_param[i])
            PSD_TRY(init_one(node, &exchanges->all[exchanges->of_param[i] - 1], i));
    }
    return PSD_OK;
}

static void fini_one(struct psd_exchange *exchange)
{
    for (size_t i = 0; i < 2; i++) {
        psd_alloc_free(exchange->gathers[i].here);
        psd_alloc_free(exchange->gathers[i].memory);
        psd_alloc_free(exchange->gathers[i].blocks);
    }
    for (size_t i = 0; i < PSD_EXCHANGE_WORKS; i++) {
        psd_alloc_free(exchange->works[i].scratch);
        psd_alloc_free(exchange->works[i].blocks);
    }
    for (size_t i = 0; i < 4; i++) {
        psd_alloc_free(exchange->states[i]);
        psd_alloc_free(exchange->bias_states[i]);
    }
    psd_alloc_free(exchange->staging);
    psd_alloc_free(exchange->own);
}

void psd_exchange_fini(struct psd_node *node)
{
    for (size_t i = 0; node->exchanges.all && i < node->exchanges.count; i++)
        fini_one(&node->exchanges.all[i]);
    psd_alloc_free(node->exchanges.all);
    psd_alloc_free(node->exchanges.of_param);
}

/* Packs u so that the rows of each receiver lie together. */
static void pack(const struct psd_exchange *exchange, float *own, const float *u, const float *v,
                 size_t batch)
{
    const struct psd_node *node = exchange->node;
    size_t rows = weight(exchange)->rows;

    for (unsigned rank = 0; rank < node->job->ranks; rank++) {
        struct psd_rows its = psd_layout_rows(node->layout, exchange->param, rank);
        size_t width = its.end - its.first;
        for (size_t k = 0; k < batch; k++)
            memcpy(own + batch * its.first + k * width, u + k * rows + its.first,
                   width * sizeof *u);
    }
    memcpy(own + batch * rows, v, batch * weight(exchange)->cols * sizeof *v);
}

void psd_exchange_copy(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration,
                       const float *u, const float *v, size_t batch)
{
    struct psd_exchange *exchange = find(node, param);

    if (node->sizes_only)
        return;
    if (!is_broadcast(exchange)) {
        pack(exchange, exchange->own[psd_node_hosted_index(node, worker)], u, v, batch);
        return;
    }
    float *at = gathered(exchange, gather_of(exchange, iteration), worker);
    memcpy(at, u, batch * weight(exchange)->rows * sizeof *u);
    memcpy(at + batch * weight(exchange)->rows, v, batch * weight(exchange)->cols * sizeof *v);
}

static void rebuild(struct psd_exchange *exchange);

/* Cuts of a worker's factors, as bits, are here or will be. */
static void expect(struct psd_gather *gather, unsigned worker, uint64_t iteration, uint64_t cuts)
{
    gather->iteration = iteration;
    gather->here[worker] |= cuts;
    gather->known += (size_t)__builtin_popcountll(cuts);
}

/* So many cuts are in the gather. */
static void count(struct psd_exchange *exchange, struct psd_gather *gather, size_t cuts)
{
    gather->missing -= cuts;
    if (gather->missing)
        return;
    exchange->ready = true;
    exchange->iteration = gather->iteration;
    if (psd_clip_lets(exchange->node, exchange))
        rebuild(exchange);
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
    return iteration - next <= is_broadcast(exchange);
}

static struct psd_span slice(const struct psd_exchange *exchange, unsigned worker,
                             const struct psd_gather *gather, struct psd_rows rows)
{
    const struct psd_node *node = exchange->node;
    size_t batch = node->job->batch[worker], width = rows.end - rows.first;
    struct psd_span span = {NULL, batch * width * sizeof(float)};

    if (node->sizes_only)
        return span;
    span.data = is_broadcast(exchange)
                    ? gather->blocks[worker].u
                    : exchange->own[psd_node_hosted_index(node, worker)] + batch * rows.first;
    return span;
}

static struct psd_span all_of_v(const struct psd_exchange *exchange, unsigned worker,
                                const struct psd_gather *gather)
{
    const struct psd_node *node = exchange->node;
    size_t batch = node->job->batch[worker];
    struct psd_span span = {NULL, batch * weight(exchange)->cols * sizeof(float)};

    if (node->sizes_only)
        return span;
    span.data = is_broadcast(exchange) ? gather->blocks[worker].v
                                       : exchange->own[psd_node_hosted_index(node, worker)] +
                                             batch * weight(exchange)->rows;
    return span;
}

static void send_to(struct psd_exchange *exchange, struct psd_message *message, unsigned to,
                    struct psd_rows rows)
{
    struct psd_node *node = exchange->node;
    const struct psd_gather *gather = gather_of(exchange, message->iteration);
    struct psd_cut cut = cut_of(exchange, message->which, rows.end - rows.first);
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

static void send_factors(struct psd_exchange *exchange, unsigned worker, uint64_t iteration)
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
            sends += cut_of(exchange, worker, rows.end - rows.first).count;
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
            sends += sends_of(exchange, node->hosted[k]) * (is_broadcast(exchange) ? 2 : 1);
    }
    return sends;
}

/* The iteration that others are in, judged by what they have sent before our own factors of
 * `iteration`, which they need to go on. */
static uint64_t others_are_in(struct psd_exchange *exchange, uint64_t iteration)
{
    const struct psd_gather *gather = gather_of(exchange, iteration);
    const struct psd_gather *next = gather_of(exchange, iteration + 1);

    if (gather->known)
        return gather->iteration;
    return next->known && next->iteration > iteration ? next->iteration : iteration;
}

void psd_exchange_give(struct psd_node *node, size_t param, unsigned worker, uint64_t iteration)
{
    struct psd_exchange *exchange = find(node, param);
    struct psd_gather *gather = gather_of(exchange, iteration);
    uint64_t all = psd_cut_all(cut_of(exchange, worker, own_rows(exchange)));

    send_factors(exchange, worker, iteration);
    if (own_rows(exchange) == 0)
        return;
    if (others_are_in(exchange, iteration) != iteration) {
        psd_node_mistake(node, PSD_EINVAL,
                         "rank %u syncs factors of %s in iteration %llu, where others are in %llu",
                         node->rank, node->job->params[param].name, (unsigned long long)iteration,
                         (unsigned long long)others_are_in(exchange, iteration));
        return;
    }
    expect(gather, worker, iteration, all);
    count(exchange, gather, (size_t)__builtin_popcountll(all));
}

static uint64_t bit(uint32_t cut)
{
    return UINT64_C(1) << cut;
}

psd_status psd_exchange_place(struct psd_node *node, const struct psd_message *message,
                              struct psd_place *place)
{
    struct psd_exchange *exchange = find(node, message->subject);

    if (!exchange || own_rows(exchange) == 0 || message->which >= node->job->workers ||
        node->job->host[message->which] != message->from)
        return psd_fail(PSD_EPEER, "factors of parameter %u and worker %u are not for rank %u",
                        message->subject, message->which, node->rank);
    struct psd_gather *gather = gather_of(exchange, message->iteration);
    struct psd_cut cut = cut_of(exchange, message->which, own_rows(exchange));
    if (message->first >= cut.count || message->length != psd_cut_length(cut, message->first))
        return psd_fail(PSD_EPEER, "factors of %s come in %u messages; number %u has %llu bytes",
                        weight(exchange)->name, cut.count, message->first,
                        (unsigned long long)message->length);
    if (!is_due(exchange, gather, message->which, message->iteration, bit(message->first)))
        return psd_fail(PSD_EPEER, "rank %u sends factors of %s of iteration %llu out of turn",
                        message->from, weight(exchange)->name,
                        (unsigned long long)message->iteration);
    expect(gather, message->which, message->iteration, bit(message->first));
    place->spans[0].bytes = message->length;
    if (!node->sizes_only)
        place->spans[0].data = gathered(exchange, gather, message->which) +
                               psd_cut_begin(cut, message->first) / sizeof(float);
    return PSD_OK;
}

void psd_exchange_arrived(struct psd_node *node, const struct psd_message *message)
{
    struct psd_exchange *exchange = find(node, message->subject);

    count(exchange, gather_of(exchange, message->iteration), 1);
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
    size_t cols = weight(exchange)->cols;
    uint32_t piece, last;

    if (is_bias(work))
        return exchange->rows;
    if (is_broadcast(exchange)) {
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
    const struct psd_gather *gather = gather_of(exchange, exchange->iteration);

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
    psd_product_bias(work->blocks, node->job->workers, own_rows(exchange), sums);
    psd_node_apply(node, exchange->bias, exchange->iteration, exchange->rows.first,
                   own_rows(exchange), sums, exchange->bias_states, 0);
}

static void run_rows(struct psd_exchange_work *work, size_t first, size_t rows)
{
    struct psd_exchange *exchange = work->exchange;
    const struct psd_node *node = exchange->node;
    size_t cols = weight(exchange)->cols;
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

/* Everything is rebuilt: the factors may be overwritten. */
static void close_round(struct psd_exchange *exchange)
{
    struct psd_gather *gather = gather_of(exchange, exchange->iteration);
    unsigned workers = exchange->node->job->workers;

    exchange->rebuilt = true;
    gather->known = 0;
    gather->missing = exchange->cuts;
    memset(gather->here, 0, workers * sizeof *gather->here);
}

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

    if (!is_broadcast(exchange))
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

    if (++exchange->done == exchange->chunks)
        close_round(exchange);
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
    size_t values = (rows.end - rows.first) * (is_bias(work) ? 1 : weight(exchange)->cols);
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

static void rebuild(struct psd_exchange *exchange)
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
    return gather_of(exchange, exchange->iteration)->blocks;
}

void psd_exchange_update_all(struct psd_node *node)
{
    for (size_t i = 0; i < node->exchanges.count; i++) {
        if (node->exchanges.all[i].ready)
            rebuild(&node->exchanges.all[i]);
    }
}

bool psd_exchange_is_whole(const struct psd_node *node, size_t param)
{
    const struct psd_exchange *exchange = find(node, psd_job_leader(node->job, param));

    return exchange && is_broadcast(exchange);
}

uint32_t psd_exchange_missing(const struct psd_node *node, size_t param, uint64_t iteration)
{
    struct psd_exchange *exchange = find(node, param);

    if (!exchange || own_rows(exchange) == 0)
        return UINT32_MAX;
    const struct psd_gather *gather = gather_of(exchange, iteration);
    if (gather->missing == 0 || (exchange->rebuilt && exchange->iteration >= iteration))
        return UINT32_MAX;
    for (unsigned w = 0; w < node->job->workers; w++) {
        if (gather->here[w] != psd_cut_all(cut_of(exchange, w, own_rows(exchange))))
            return w;
    }
    return UINT32_MAX;
}
