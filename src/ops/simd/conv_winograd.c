/* conv_winograd.c - its plan, and forward. */
#include "ops/simd/conv_winograd.h"
#include "base/alloc.h"
#include "ops/simd/product.h"
#include "ops/simd/tile.h"
#include "ops/simd/turn.h"

#include <string.h>

enum {
    POINTS = PSD_SIMD_WINOGRAD_POINTS,
    OUT = PSD_SIMD_WINOGRAD_OUT,
    KERNEL = PSD_SIMD_WINOGRAD_KERNEL,
    TAPS = PSD_SIMD_WINOGRAD_TAPS,
    LINE = PSD_SIMD_ALIGNMENT / sizeof(float)
};

/* --- plan ------------------------------------------------------------------------------------*/

/* A window of 5 x 5 with stride 1; with few channels the way to the points and back is longer than
 * the products there. */
static bool suits(const struct psd_conv_spec *c)
{
    enum { FEW = 12 };

    for (int i = 0; i < 2; i++) {
        if (c->kernel[i] != KERNEL || c->stride[i] != 1 || c->dilation[i] != 1 ||
            c->pad[i] >= KERNEL)
            return false;
    }
    return c->group == 1 && c->channels >= FEW && c->outputs >= FEW;
}

static size_t whole_vectors(size_t count)
{
    return psd_simd_pieces(count, PSD_SIMD_LANES) * PSD_SIMD_LANES;
}

/* A cache line more than needed, so that 36 points of a tile are not looked for in the same few
 * places of a cache. */
static size_t whole_lines_and_one(size_t count)
{
    return psd_simd_pieces(count, LINE) * LINE + LINE;
}

/* One thread cuts its work too: the parts of a sum over the batch round less than all in a row. A part
 * has images enough to make up for adding it to the others. */
static size_t choose_tasks(const struct psd_op *op)
{
    enum { PARTS = 8, IMAGES = 12 };
    const struct psd_conv_spec *c = &op->spec.conv;
    double outputs = (double)(c->batch * c->outputs * c->out_height * c->out_width);

    if (psd_ops_threads(op->ops) == 1) {
        size_t parts = psd_simd_pieces(c->batch, IMAGES);
        return parts < PARTS ? parts : PARTS;
    }
    return psd_simd_tasks(op, c->batch, 2 * outputs * (double)(c->channels * TAPS));
}

/* x has its padding for a border, and what the last tiles lack; y only the latter. */
static void describe_pixels(struct psd_simd_conv_winograd *conv)
{
    const struct psd_conv_spec *c = conv->s;
    size_t height = conv->tiles[0] * OUT, width = conv->tiles[1] * OUT;

    conv->y = (struct psd_simd_pixels){
        .channels = c->outputs,
        .height = c->out_height,
        .width = c->out_width,
        .step = whole_vectors(c->outputs),
        .row = width,
        .count = height * width,
    };
    width += KERNEL - 1;
    conv->x = (struct psd_simd_pixels){
        .channels = c->channels,
        .height = c->height,
        .width = c->width,
        .step = whole_vectors(c->channels),
        .row = width,
        .count = (height + KERNEL - 1) * width,
        .first = c->pad[0] * width + c->pad[1],
    };
}

static void describe(struct psd_op *op, struct psd_simd_conv_winograd *conv)
{
    enum { TILES = 32 }; /* of a block, about: rows enough for a product, few enough for a cache */
    const struct psd_conv_spec *c = conv->s = &op->spec.conv;

    conv->tiles[0] = psd_simd_pieces(c->out_height, OUT);
    conv->tiles[1] = psd_simd_pieces(c->out_width, OUT);
    describe_pixels(conv);
    conv->bands = psd_simd_pieces(TILES, conv->tiles[1]);
    conv->in_point = whole_lines_and_one(conv->bands * conv->tiles[1] * conv->x.step);
    conv->out_point = whole_lines_and_one(conv->bands * conv->tiles[1] * conv->y.step);
    conv->sums_point = whole_lines_and_one(c->channels * conv->y.step);
    conv->back_point = whole_lines_and_one(c->outputs * conv->x.step);
    conv->tasks = choose_tasks(op);
    conv->threads = psd_ops_threads(op->ops) < conv->tasks ? psd_ops_threads(op->ops) : conv->tasks;
}

/* Takes the next `count` floats of the plan's memory; without memory, only counts them. */
static float *take(const struct psd_simd_conv_winograd *conv, size_t *used, size_t count)
{
    float *floats = conv->memory ? conv->memory + *used : NULL;

    *used += psd_simd_pieces(count, LINE) * LINE;
    return floats;
}

static void take_desk(const struct psd_simd_conv_winograd *conv, size_t *used,
                      struct psd_simd_desk *desk)
{
    size_t image = conv->x.count * conv->x.step, result = conv->y.count * conv->y.step;

    desk->x = take(conv, used, image);
    desk->dx = take(conv, used, image);
    desk->y = take(conv, used, result);
    desk->dy = take(conv, used, result);
    desk->in = take(conv, used, POINTS * conv->in_point);
    desk->out = take(conv, used, POINTS * conv->out_point);
    desk->taps = take(conv, used, TAPS * conv->y.step);
}

static void take_part(const struct psd_simd_conv_winograd *conv, size_t *used,
                      struct psd_simd_part *part)
{
    part->sums = take(conv, used, POINTS * conv->sums_point);
    part->bias = (double *)take(conv, used, 2 * conv->y.step);
}

/* Returns how many floats that takes, with desks for so many threads. */
static size_t take_all(struct psd_simd_conv_winograd *conv, size_t threads)
{
    size_t used = 0;

    conv->turned = take(conv, &used, TAPS * conv->s->channels * conv->y.step);
    conv->forward = take(conv, &used, POINTS * conv->sums_point);
    conv->backward = take(conv, &used, POINTS * conv->back_point);
    conv->start = take(conv, &used, conv->y.step);
    for (size_t i = 0; i < conv->tasks; i++)
        take_part(conv, &used, &conv->parts[i]);
    for (size_t i = 0; i < threads; i++)
        take_desk(conv, &used, &conv->desks[i % conv->threads]);
    return used;
}

/* Desks of large images or of very many channels would not stay in a cache, nor be cheap. */
static psd_status allocate(struct psd_simd_conv_winograd *conv)
{
    const size_t most = (size_t)1 << 20; /* floats of a desk and a part */

    conv->desks = psd_alloc_zero(conv->threads, sizeof *conv->desks);
    conv->parts = psd_alloc_zero(conv->tasks, sizeof *conv->parts);
    if (!conv->desks || !conv->parts)
        return PSD_ENOMEM;
    if (take_all(conv, conv->tasks) > conv->tasks * most)
        return PSD_ENOSUP;
    conv->memory = psd_simd_zero_floats(take_all(conv, conv->threads));
    if (!conv->memory)
        return PSD_ENOMEM;
    take_all(conv, conv->threads);
    return PSD_OK;
}

static void destroy(struct psd_simd_conv_winograd *conv)
{
    psd_alloc_free(conv->desks);
    psd_alloc_free(conv->parts);
    psd_alloc_free(conv->memory);
    psd_alloc_free(conv);
}

struct psd_simd_desk *psd_simd_conv_winograd_sit(const struct psd_simd_conv_winograd *conv,
                                                 size_t task)
{
    size_t i = 0;

    while (atomic_exchange_explicit(&conv->desks[i].taken, true, memory_order_acquire))
        i = (i + 1) % conv->threads;
    conv->desks[i].part = conv->parts[task];
    return &conv->desks[i];
}

void psd_simd_conv_winograd_leave(struct psd_simd_desk *desk)
{
    atomic_store_explicit(&desk->taken, false, memory_order_release);
}

/* --- to the points ---------------------------------------------------------------------------*/

size_t psd_simd_conv_winograd_band(const struct psd_simd_conv_winograd *conv, size_t task)
{
    return psd_simd_piece(conv->s->batch, conv->tasks, task) * conv->tiles[0];
}

void psd_simd_conv_winograd_in(const struct psd_simd_conv_winograd *conv,
                               const struct psd_simd_desk *desk, const float *x, size_t band,
                               size_t i)
{
    const struct psd_conv_spec *c = conv->s;
    size_t n = band / conv->tiles[0], row = band % conv->tiles[0];
    size_t row_step = conv->x.row * conv->x.step;
    const float *from = desk->x + row * OUT * row_step;
    float *to = desk->in + i * conv->tiles[1] * conv->x.step;

    if (row == 0)
        psd_simd_pixels_load(&conv->x, x + n * c->channels * c->height * c->width, desk->x);
    for (size_t j = 0; j < conv->tiles[1]; j++, from += OUT * conv->x.step, to += conv->x.step) {
        for (size_t v = 0; v < conv->x.step; v += PSD_SIMD_LANES)
            psd_simd_winograd_x(from + v, row_step, conv->x.step, to + v, conv->in_point);
    }
}

static void load_weights(const struct psd_simd_conv_winograd *conv, const float *w)
{
    const struct psd_conv_spec *c = conv->s;
    size_t taps = c->channels * TAPS, step = conv->y.step;

    psd_simd_to_pixels(w, taps, c->outputs, taps, conv->turned, step);
    for (size_t i = 0; i < c->channels; i++) {
        for (size_t v = 0; v < step; v += PSD_SIMD_LANES)
            psd_simd_winograd_w(conv->turned + i * TAPS * step + v, step,
                                conv->forward + i * step + v, conv->sums_point);
    }
}

/* --- forward ---------------------------------------------------------------------------------*/

/* A call, as its tasks see it. */
struct call {
    const struct psd_simd_conv_winograd *conv;
    const float *x;
    float *y;
};

static void multiply(const struct psd_simd_conv_winograd *conv, const struct psd_simd_desk *desk,
                     size_t bands)
{
    for (size_t p = 0; p < POINTS; p++) {
        struct psd_simd_product job = {
            .a = desk->in + p * conv->in_point,
            .a_row = conv->x.step,
            .a_step = 1,
            .b = conv->forward + p * conv->sums_point,
            .b_step = conv->y.step,
            .steps = conv->s->channels,
            .to = desk->out + p * conv->out_point,
            .to_step = conv->y.step,
            .rows = bands * conv->tiles[1],
            .vectors = conv->y.step / PSD_SIMD_LANES,
        };
        psd_simd_product(&job);
    }
}

static void store_band(const struct call *call, const struct psd_simd_desk *desk, size_t band,
                       size_t i)
{
    const struct psd_simd_conv_winograd *conv = call->conv;
    const struct psd_conv_spec *c = conv->s;
    size_t n = band / conv->tiles[0], row = band % conv->tiles[0], step = conv->y.step;
    size_t row_step = conv->y.row * step;
    const float *from = desk->out + i * conv->tiles[1] * step;
    float *to = desk->y + row * OUT * row_step;

    for (size_t j = 0; j < conv->tiles[1]; j++, from += step, to += OUT * step) {
        for (size_t v = 0; v < step; v += PSD_SIMD_LANES)
            psd_simd_winograd_y(from + v, conv->out_point, conv->start + v, to + v, row_step, step);
    }
    if (row == conv->tiles[0] - 1)
        psd_simd_pixels_store(&conv->y, desk->y, false,
                              call->y + n * c->outputs * c->out_height * c->out_width);
}

static psd_status forward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct psd_simd_conv_winograd *conv = call->conv;
    struct psd_simd_desk *desk = psd_simd_conv_winograd_sit(conv, task);
    size_t end = psd_simd_conv_winograd_band(conv, task + 1);

    for (size_t band = psd_simd_conv_winograd_band(conv, task); band < end; band += conv->bands) {
        size_t bands = end - band < conv->bands ? end - band : conv->bands;
        for (size_t i = 0; i < bands; i++)
            psd_simd_conv_winograd_in(conv, desk, call->x, band + i, i);
        multiply(conv, desk, bands);
        for (size_t i = 0; i < bands; i++)
            store_band(call, desk, band + i, i);
    }
    psd_simd_conv_winograd_leave(desk);
    return PSD_OK;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_simd_conv_winograd *conv = op->plan;
    const float *b = psd_tensor_host(values->in[2]);
    struct call call = {conv, psd_tensor_host(values->in[0]), psd_tensor_host(values->out[0])};

    if (b)
        memcpy(conv->start, b, conv->s->outputs * sizeof *b);
    load_weights(conv, psd_tensor_host(values->in[1]));
    return psd_pool_each(psd_ops_pool(op->ops), conv->tasks, forward_task, &call);
}

static void drop(struct psd_op *op)
{
    destroy(op->plan);
}

static const struct psd_op_code code = {
    .forward = forward, .backward = psd_simd_conv_winograd_backward, .drop = drop};

psd_status psd_simd_plan_conv_winograd(struct psd_op *op)
{
    if (!suits(&op->spec.conv))
        return PSD_ENOSUP;
    struct psd_simd_conv_winograd *conv = psd_alloc_zero(1, sizeof *conv);
    if (!conv)
        return PSD_ENOMEM;
    describe(op, conv);
    psd_status status = allocate(conv);
    if (status != PSD_OK) {
        destroy(conv);
        return status;
    }
    op->code = &code;
    op->plan = conv;
    return PSD_OK;
}
