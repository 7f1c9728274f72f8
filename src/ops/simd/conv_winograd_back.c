/* conv_winograd_back.c - the way back: dy to the points, from there to dx, dw and db.
 *
 * Each task adds up its own part of dw at the points; when all are done, the parts are added in the
 * order of tasks and brought back to taps, a range of channels to a task. */
#include "ops/simd/conv_winograd.h"
#include "ops/simd/product.h"
#include "ops/simd/tile.h"
#include "ops/simd/turn.h"

#include <string.h>

enum {
    POINTS = PSD_SIMD_WINOGRAD_POINTS,
    OUT = PSD_SIMD_WINOGRAD_OUT,
    TAPS = PSD_SIMD_WINOGRAD_TAPS
};

/* A call, as its tasks see it. */
struct call {
    const struct psd_simd_conv_winograd *conv;
    const float *x, *dy;
    struct psd_simd_diff dx, dw, db;
};

static void load_weights(const struct psd_simd_conv_winograd *conv, const float *w)
{
    const struct psd_conv_spec *c = conv->s;
    size_t step = conv->x.step;

    for (size_t o = 0; o < c->outputs; o++) {
        psd_simd_to_pixels(w + o * c->channels * TAPS, TAPS, c->channels, TAPS, conv->turned, step);
        for (size_t v = 0; v < step; v += PSD_SIMD_LANES)
            psd_simd_winograd_w(conv->turned + v, step, conv->backward + o * step + v,
                                conv->back_point);
    }
}

/* --- dy --------------------------------------------------------------------------------------*/

/* Adds the sum of some pixels. */
PSD_SIMD static void add_pixels(const float *pixels, size_t count, size_t step, double *sums)
{
    for (size_t v = 0; v < step; v += PSD_SIMD_LANES) {
        float sum[PSD_SIMD_LANES];
        __m256 lanes = _mm256_load_ps(pixels + v);
        for (size_t i = 1; i < count; i++)
            lanes = _mm256_add_ps(lanes, _mm256_load_ps(pixels + i * step + v));
        _mm256_storeu_ps(sum, lanes);
        for (size_t i = 0; i < PSD_SIMD_LANES; i++)
            sums[v + i] += (double)sum[i];
    }
}

static void load_band(const struct call *call, const struct psd_simd_desk *desk, size_t band,
                      size_t i)
{
    const struct psd_simd_conv_winograd *conv = call->conv;
    const struct psd_conv_spec *c = conv->s;
    size_t n = band / conv->tiles[0], row = band % conv->tiles[0], step = conv->y.step;
    size_t row_step = conv->y.row * step;
    const float *from = desk->dy + row * OUT * row_step;
    float *to = desk->out + i * conv->tiles[1] * step;

    if (row == 0)
        psd_simd_pixels_load(&conv->y, call->dy + n * c->outputs * c->out_height * c->out_width,
                             desk->dy);
    if (call->db.to)
        add_pixels(from, OUT * conv->y.row, step, desk->part.bias);
    for (size_t j = 0; j < conv->tiles[1]; j++, from += OUT * step, to += step) {
        for (size_t v = 0; v < step; v += PSD_SIMD_LANES)
            psd_simd_winograd_dy(from + v, row_step, step, to + v, conv->out_point);
    }
}

/* --- to w ------------------------------------------------------------------------------------*/

/* The products of one point. */
static void add_weights(const struct psd_simd_conv_winograd *conv, const struct psd_simd_desk *desk,
                        size_t p, size_t tiles, bool adds)
{
    struct psd_simd_product job = {
        .a = desk->in + p * conv->in_point,
        .a_row = 1,
        .a_step = conv->x.step,
        .b = desk->out + p * conv->out_point,
        .b_step = conv->y.step,
        .steps = tiles,
        .to = desk->part.sums + p * conv->sums_point,
        .to_step = conv->y.step,
        .rows = conv->s->channels,
        .vectors = conv->y.step / PSD_SIMD_LANES,
        .adds = adds,
    };

    psd_simd_product(&job);
}

/* Adds the tasks' parts of one channel, in the first one's. */
PSD_SIMD static void add_parts(const struct psd_simd_conv_winograd *conv, size_t channel)
{
    for (size_t i = 0; i < POINTS * conv->y.step; i += PSD_SIMD_LANES) {
        size_t at = i / conv->y.step * conv->sums_point + channel * conv->y.step + i % conv->y.step;
        __m256 sum = _mm256_load_ps(conv->parts[0].sums + at);
        for (size_t task = 1; task < conv->tasks; task++)
            sum = _mm256_add_ps(sum, _mm256_load_ps(conv->parts[task].sums + at));
        _mm256_store_ps(conv->parts[0].sums + at, sum);
    }
}

static psd_status finish_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct psd_simd_conv_winograd *conv = call->conv;
    const struct psd_conv_spec *c = conv->s;
    size_t end = psd_simd_piece(c->channels, conv->tasks, task + 1);
    struct psd_simd_desk *desk = psd_simd_conv_winograd_sit(conv, task);

    for (size_t i = psd_simd_piece(c->channels, conv->tasks, task); i < end; i++) {
        add_parts(conv, i);
        for (size_t v = 0; v < conv->y.step; v += PSD_SIMD_LANES)
            psd_simd_winograd_dw(conv->parts[0].sums + i * conv->y.step + v, conv->sums_point,
                                 desk->taps + v, conv->y.step);
        psd_simd_to_planes(desk->taps, conv->y.step, c->outputs, TAPS, call->dw.adds,
                           call->dw.to + i * TAPS, c->channels * TAPS);
    }
    psd_simd_conv_winograd_leave(desk);
    return PSD_OK;
}

static void finish_bias(const struct call *call)
{
    const struct psd_simd_conv_winograd *conv = call->conv;

    for (size_t o = 0; o < conv->s->outputs; o++) {
        double sum = call->db.adds ? (double)call->db.to[o] : 0;
        for (size_t task = 0; task < conv->tasks; task++)
            sum += conv->parts[task].bias[o];
        call->db.to[o] = (float)sum;
    }
}

/* --- to x ------------------------------------------------------------------------------------*/

/* The products of one point; they take the place of x, which dw has used. */
static void make_inputs(const struct psd_simd_conv_winograd *conv, const struct psd_simd_desk *desk,
                        size_t p, size_t tiles)
{
    struct psd_simd_product job = {
        .a = desk->out + p * conv->out_point,
        .a_row = conv->y.step,
        .a_step = 1,
        .b = conv->backward + p * conv->back_point,
        .b_step = conv->x.step,
        .steps = conv->s->outputs,
        .to = desk->in + p * conv->in_point,
        .to_step = conv->x.step,
        .rows = tiles,
        .vectors = conv->x.step / PSD_SIMD_LANES,
    };

    psd_simd_product(&job);
}

/* Tiles overlap, so an image is added up before it is stored. */
static void store_band(const struct call *call, const struct psd_simd_desk *desk, size_t band,
                       size_t i)
{
    const struct psd_simd_conv_winograd *conv = call->conv;
    const struct psd_conv_spec *c = conv->s;
    size_t n = band / conv->tiles[0], row = band % conv->tiles[0], step = conv->x.step;
    const float *from = desk->in + i * conv->tiles[1] * step;
    float *to = desk->dx + row * OUT * conv->x.row * step;

    if (row == 0)
        memset(desk->dx, 0, conv->x.count * step * sizeof *desk->dx);
    for (size_t j = 0; j < conv->tiles[1]; j++, from += step, to += OUT * step) {
        for (size_t v = 0; v < step; v += PSD_SIMD_LANES)
            psd_simd_winograd_dx(from + v, conv->in_point, to + v, conv->x.row * step, step);
    }
    if (row == conv->tiles[0] - 1)
        psd_simd_pixels_store(&conv->x, desk->dx, call->dx.adds,
                              call->dx.to + n * c->channels * c->height * c->width);
}

/* --- all of it -------------------------------------------------------------------------------*/

static void run_block(const struct call *call, const struct psd_simd_desk *desk, size_t band,
                      size_t bands, bool is_first)
{
    const struct psd_simd_conv_winograd *conv = call->conv;

    for (size_t i = 0; i < bands; i++) {
        load_band(call, desk, band + i, i);
        if (call->dw.to)
            psd_simd_conv_winograd_in(conv, desk, call->x, band + i, i);
    }
    for (size_t p = 0; p < POINTS; p++) {
        if (call->dw.to)
            add_weights(conv, desk, p, bands * conv->tiles[1], !is_first);
        if (call->dx.to)
            make_inputs(conv, desk, p, bands * conv->tiles[1]);
    }
    for (size_t i = 0; call->dx.to && i < bands; i++)
        store_band(call, desk, band + i, i);
}

static psd_status backward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct psd_simd_conv_winograd *conv = call->conv;
    struct psd_simd_desk *desk = psd_simd_conv_winograd_sit(conv, task);
    size_t begin = psd_simd_conv_winograd_band(conv, task);
    size_t end = psd_simd_conv_winograd_band(conv, task + 1);

    memset(desk->part.bias, 0, conv->y.step * sizeof *desk->part.bias);
    for (size_t band = begin; band < end; band += conv->bands) {
        size_t left = end - band;
        run_block(call, desk, band, left < conv->bands ? left : conv->bands, band == begin);
    }
    psd_simd_conv_winograd_leave(desk);
    return PSD_OK;
}

psd_status psd_simd_conv_winograd_backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_simd_conv_winograd *conv = op->plan;
    struct psd_pool *pool = psd_ops_pool(op->ops);
    struct call call = {
        .conv = conv,
        .x = psd_tensor_host(values->in[0]),
        .dy = psd_tensor_host(values->out_diff[0]),
        .dx = psd_simd_diff(values, 0),
        .dw = psd_simd_diff(values, 1),
        .db = psd_simd_diff(values, 2),
    };

    if (call.dx.to)
        load_weights(conv, psd_tensor_host(values->in[1]));
    PSD_TRY(psd_pool_each(pool, conv->tasks, backward_task, &call));
    if (call.db.to)
        finish_bias(&call);
    return call.dw.to ? psd_pool_each(pool, conv->tasks, finish_task, &call) : PSD_OK;
}
