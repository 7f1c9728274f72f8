/* clip.c - sums of squares where the gradients are, one number for all.
 *
 * The numbers of a member stand in the order of parameters, and of parts or tiles within them. Rank 0
 * walks through all parameters in the same way and takes the next number of whoever owns it. */
#include "comm/clip.h"
#include "base/alloc.h"
#include "comm/node_state.h"
#include "math/sum.h"

#include <string.h>

/* The squares of one part, or of one exchange (with its bias). */
struct psd_clip_work {
    struct psd_work work;
    struct psd_node *node;         /* borrowed, as is the next */
    struct psd_exchange *exchange; /* NULL: a part */
    size_t part;
    double *sums;      /* borrowed from clip->mine: blocks of the part, or tiles of the rows; */
    double *bias_sums; /* and tiles of the bias, if there is one */
    double *gram;      /* owned; [samples][samples], for an exchange */
    float *bias;       /* owned; [rows] */
};

static size_t tiles_of(struct psd_rows rows)
{
    return (rows.end - rows.first + PSD_PRODUCT_ROWS - 1) / PSD_PRODUCT_ROWS;
}

/* The rows whose squares `rank` sums: where everybody rebuilds all, rank 0 speaks for all. */
static struct psd_rows rows_of(const struct psd_node *node, size_t param, unsigned rank)
{
    if (node->job->params[param].route == PSD_ROUTE_BROADCAST && rank != 0)
        return (struct psd_rows){0, 0};
    return psd_layout_rows(node->layout, param, rank);
}

/* How many numbers `rank` has for `param`. */
static size_t numbers_of(const struct psd_node *node, size_t param, unsigned rank)
{
    const struct psd_layout *layout = node->layout;
    const struct psd_layout_param *at = &layout->params[param];
    size_t count = 0;

    if (node->job->params[param].averaged)
        return 0;
    if (psd_job_is_factored(node->job, param))
        return tiles_of(rows_of(node, psd_job_leader(node->job, param), rank));
    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        if (layout->pieces[layout->parts[part].piece].server == rank)
            count += psd_sum_block_count(layout->parts[part].count);
    }
    return count;
}

/* Whether the part has a work of its own here: it is ours, dense, and a gradient. */
static bool is_owned(const struct psd_node *node, size_t part)
{
    const struct psd_part *p = &node->layout->parts[part];

    return node->layout->pieces[p->piece].server == node->rank &&
           !psd_job_is_factored(node->job, p->param) && !node->job->params[p->param].averaged;
}

static size_t owned_parts(const struct psd_node *node)
{
    size_t count = 0;

    for (size_t part = 0; part < node->layout->n_parts; part++)
        count += is_owned(node, part);
    return count;
}

static void run_part(struct psd_work *order)
{
    const struct psd_clip_work *work = order->owner;

    psd_sum_square_blocks(psd_shard_sum(work->node, work->part),
                          work->node->layout->parts[work->part].count, work->sums);
}

static void run_exchange(struct psd_work *order)
{
    const struct psd_clip_work *work = order->owner;
    const struct psd_exchange *exchange = work->exchange;
    const struct psd_job *job = work->node->job;
    size_t rows = exchange->rows.end - exchange->rows.first;
    const struct psd_product_block *blocks = psd_exchange_blocks(work->exchange);

    psd_product_gram(blocks, job->workers, job->params[exchange->param].cols, work->gram);
    psd_product_squares(blocks, job->workers, rows, work->gram, work->sums);
    if (!work->bias_sums)
        return;
    psd_product_bias(blocks, job->workers, rows, work->bias);
    for (size_t i = 0; i < tiles_of(exchange->rows); i++) {
        size_t first = i * PSD_PRODUCT_ROWS, left = rows - first;
        work->bias_sums[i] =
            psd_sum_squares(work->bias + first, left < PSD_PRODUCT_ROWS ? left : PSD_PRODUCT_ROWS);
    }
}

static void add_part(struct psd_node *node, size_t part, size_t *at)
{
    struct psd_clip_work *work = &node->clip.works[node->clip.n_works++];

    node->clip.of_part[part] = (uint32_t)node->clip.n_works;
    *work = (struct psd_clip_work){.node = node, .part = part, .sums = node->clip.mine + *at};
    *at += psd_sum_block_count(node->layout->parts[part].count);
}

static psd_status add_exchange(struct psd_node *node, struct psd_exchange *exchange, size_t at)
{
    struct psd_clip_work *work = &node->clip.works[node->clip.n_works++];
    size_t samples = psd_job_samples(node->job);

    *work =
        (struct psd_clip_work){.node = node, .exchange = exchange, .sums = node->clip.mine + at};
    PSD_TRY(psd_node_doubles(node, samples * samples, &work->gram));
    if (exchange->bias == SIZE_MAX)
        return PSD_OK;
    return psd_node_floats(node, exchange->rows.end - exchange->rows.first, &work->bias);
}

static struct psd_clip_work *work_of(const struct psd_node *node,
                                     const struct psd_exchange *exchange)
{
    for (size_t i = 0; i < node->clip.n_works; i++) {
        if (node->clip.works[i].exchange == exchange)
            return &node->clip.works[i];
    }
    return NULL;
}

/* The works of one parameter; its numbers begin at *at in `mine`. */
static psd_status add_param(struct psd_node *node, size_t param, size_t *at)
{
    const struct psd_layout_param *parts = &node->layout->params[param];
    size_t numbers = numbers_of(node, param, node->rank);

    if (!psd_job_is_factored(node->job, param)) {
        for (size_t i = parts->first_part; i < parts->first_part + parts->pieces; i++) {
            if (is_owned(node, i))
                add_part(node, i, at);
        }
        return PSD_OK;
    }
    struct psd_exchange *exchange = psd_exchange_find(node, psd_job_leader(node->job, param));
    if (numbers && psd_job_follows(node->job, param))
        work_of(node, exchange)->bias_sums = node->clip.mine + *at;
    else if (numbers)
        PSD_TRY(add_exchange(node, exchange, *at));
    *at += numbers;
    return PSD_OK;
}

static size_t numbers_in_all(const struct psd_node *node, unsigned rank)
{
    size_t count = 0;

    for (size_t i = 0; i < node->job->n_params; i++)
        count += numbers_of(node, i, rank);
    return count;
}

/* Rank 0 has a place for everybody's numbers. */
static psd_status init_first(struct psd_node *node)
{
    struct psd_clip *clip = &node->clip;

    clip->all = psd_alloc_zero(node->job->ranks, sizeof *clip->all);
    clip->n_all = psd_alloc_zero(node->job->ranks, sizeof *clip->n_all);
    clip->here = psd_alloc_zero(node->job->ranks, sizeof *clip->here);
    clip->taken = psd_alloc_zero(node->job->ranks, sizeof *clip->taken);
    if (!clip->all || !clip->n_all || !clip->here || !clip->taken)
        return PSD_ENOMEM;
    for (unsigned i = 0; i < node->job->ranks; i++) {
        clip->n_all[i] = numbers_in_all(node, i);
        clip->all[i] = psd_alloc_zero(clip->n_all[i], sizeof **clip->all);
        if (!clip->all[i])
            return PSD_ENOMEM;
        node->memory += clip->n_all[i] * sizeof **clip->all;
        clip->expected += clip->n_all[i] > 0;
    }
    return PSD_OK;
}

psd_status psd_clip_init(struct psd_node *node)
{
    struct psd_clip *clip = &node->clip;
    size_t at = 0;

    clip->on = node->job->mode == PSD_COMM_UPDATE && node->job->update.clip > 0;
    if (!clip->on)
        return PSD_OK;
    clip->n_mine = numbers_in_all(node, node->rank);
    clip->mine = psd_alloc_zero(clip->n_mine, sizeof *clip->mine);
    clip->works = psd_alloc_zero(owned_parts(node) + node->exchanges.count, sizeof *clip->works);
    clip->of_part = psd_alloc_zero(node->layout->n_parts, sizeof *clip->of_part);
    if (!clip->mine || !clip->works || !clip->of_part)
        return PSD_ENOMEM;
    node->memory += clip->n_mine * sizeof *clip->mine;
    for (size_t i = 0; i < node->job->n_params; i++)
        PSD_TRY(add_param(node, i, &at));
    clip->left = clip->n_works;
    return node->rank == 0 ? init_first(node) : PSD_OK;
}

void psd_clip_fini(struct psd_node *node)
{
    struct psd_clip *clip = &node->clip;

    for (size_t i = 0; i < clip->n_works; i++) {
        psd_alloc_free(clip->works[i].gram);
        psd_alloc_free(clip->works[i].bias);
    }
    for (unsigned i = 0; clip->all && i < node->job->ranks; i++)
        psd_alloc_free(clip->all[i]);
    psd_alloc_free(clip->mine);
    psd_alloc_free(clip->works);
    psd_alloc_free(clip->all);
    psd_alloc_free(clip->n_all);
    psd_alloc_free(clip->here);
    psd_alloc_free(clip->taken);
    psd_alloc_free(clip->of_part);
}

float psd_clip_factor(const struct psd_node *node, uint64_t iteration)
{
    return node->clip.on ? node->clip.factor[iteration & 1] : 1;
}

void psd_clip_begin(struct psd_node *node, uint64_t iteration)
{
    node->clip.next = iteration;
}

/* Adds the numbers of one parameter, the next of whoever owns it. */
static double add_squares(struct psd_node *node, size_t param)
{
    const struct psd_layout *layout = node->layout;
    const struct psd_layout_param *at = &layout->params[param];
    size_t *taken = node->clip.taken;
    double total = 0;

    if (node->job->params[param].averaged)
        return 0;
    if (psd_job_is_factored(node->job, param)) {
        for (unsigned rank = 0; rank < node->job->ranks; rank++) {
            for (size_t n = numbers_of(node, param, rank); n > 0; n--)
                total += node->clip.all[rank][taken[rank]++];
        }
        return total;
    }
    for (size_t part = at->first_part; part < at->first_part + at->pieces; part++) {
        unsigned rank = layout->pieces[layout->parts[part].piece].server;
        for (size_t n = psd_sum_block_count(layout->parts[part].count); n > 0; n--)
            total += node->clip.all[rank][taken[rank]++];
    }
    return total;
}

/* The factor is known here: everything that waited for it goes on. */
static void decide(struct psd_node *node, float factor)
{
    struct psd_clip *clip = &node->clip;

    clip->factor[clip->next++ & 1] = factor;
    clip->left = clip->n_works;
    clip->is_coming = false;
    psd_shard_update_all(node);
    psd_exchange_update_all(node);
}

static void tell(struct psd_node *node, float factor)
{
    struct psd_message message = {.kind = PSD_MESSAGE_SCALE, .iteration = node->clip.next};

    memcpy(&message.which, &factor, sizeof factor);
    psd_node_tell(node, &message, PSD_SEND_CONTROL, 0, NULL, node->rank);
    decide(node, factor);
}

/* Rank 0: the numbers of one more are here. */
static void take(struct psd_node *node)
{
    struct psd_clip *clip = &node->clip;
    double total = 0;

    if (++clip->came < clip->expected)
        return;
    memset(clip->taken, 0, node->job->ranks * sizeof *clip->taken);
    for (size_t i = 0; i < node->job->n_params; i++)
        total += add_squares(node, i);
    clip->came = 0;
    memset(clip->here, 0, node->job->ranks * sizeof *clip->here);
    tell(node, psd_job_clip(node->job, total));
}

static void give(struct psd_node *node)
{
    struct psd_clip *clip = &node->clip;
    struct psd_message message = {.kind = PSD_MESSAGE_SQUARES, .iteration = clip->next};
    struct psd_span mine = {clip->mine, clip->n_mine * sizeof *clip->mine};

    if (node->rank == 0) {
        memcpy(clip->all[0], clip->mine, mine.bytes);
        take(node);
        return;
    }
    psd_node_send(node, &message, 0, PSD_SEND_CONTROL, 0, mine, (struct psd_span){0});
}

static void squares_done(struct psd_work *order)
{
    const struct psd_clip_work *work = order->owner;

    if (--work->node->clip.left == 0)
        give(work->node);
}

static void order(struct psd_clip_work *work, size_t param, size_t count, double flops,
                  void (*run)(struct psd_work *work))
{
    struct psd_node *node = work->node;

    work->work = (struct psd_work){.kind = PSD_WORK_SUM,
                                   .param = (uint32_t)param,
                                   .urgency = psd_node_urgency(node, param),
                                   .bytes = (double)(count * sizeof(float)),
                                   .flops = flops,
                                   .run = node->sizes_only ? NULL : run,
                                   .done = squares_done,
                                   .owner = work};
    psd_node_order(node, &work->work);
}

void psd_clip_part(struct psd_node *node, size_t part)
{
    const struct psd_part *p = &node->layout->parts[part];

    order(&node->clip.works[node->clip.of_part[part] - 1], p->param, p->count, 0, run_part);
}

/* Of the Gram matrices of both factors, of all samples. */
static double gram_flops(const struct psd_job *job, const struct psd_job_param *param)
{
    double samples = (double)psd_job_samples(job);

    return samples * samples * (double)(param->rows + param->cols);
}

bool psd_clip_lets(struct psd_node *node, struct psd_exchange *exchange)
{
    struct psd_clip_work *work = work_of(node, exchange);

    if (!node->clip.on || exchange->iteration < node->clip.next)
        return true;
    if (work)
        order(work, exchange->param, psd_job_count(&node->job->params[exchange->param]),
              gram_flops(node->job, &node->job->params[exchange->param]), run_exchange);
    return false;
}

/* Whether all gradients are synced; what is averaged may be so later. */
static bool is_synced(const struct psd_node *node)
{
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (!node->job->params[i].averaged && !psd_syncer_is_synced(node, i))
            return false;
    }
    return true;
}

/* Whether our part in the next decision is done: all is synced, and our numbers are given. */
static bool is_waiting(const struct psd_node *node)
{
    return node->clip.left == 0 && (node->iteration != node->clip.next || is_synced(node));
}

static bool may_come(const struct psd_node *node, const struct psd_message *message)
{
    const struct psd_clip *clip = &node->clip;

    if (!clip->on || !node->begun || message->iteration != clip->next)
        return false;
    if (message->kind == PSD_MESSAGE_SCALE)
        return message->from == 0 && message->length == 0 && !clip->is_coming && is_waiting(node);
    return node->rank == 0 && !clip->here[message->from] && clip->n_all[message->from] &&
           message->length == clip->n_all[message->from] * sizeof(double);
}

psd_status psd_clip_place(struct psd_node *node, const struct psd_message *message,
                          struct psd_place *place)
{
    if (!may_come(node, message))
        return psd_fail(PSD_EPEER, "rank %u sends %s out of turn", message->from,
                        psd_message_name(message->kind));
    if (message->kind == PSD_MESSAGE_SQUARES) {
        place->spans[0].data = node->clip.all[message->from];
        node->clip.here[message->from] = true;
    } else {
        node->clip.is_coming = true;
    }
    place->spans[0].bytes = message->length;
    return PSD_OK;
}

void psd_clip_arrived(struct psd_node *node, const struct psd_message *message)
{
    float factor;

    if (message->kind == PSD_MESSAGE_SQUARES) {
        take(node);
        return;
    }
    memcpy(&factor, &message->which, sizeof factor);
    decide(node, factor);
}
