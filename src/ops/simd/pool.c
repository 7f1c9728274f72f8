/* pool.c - pooling: its plan, and planes shared out to tasks. */
#include "ops/simd/pool.h"
#include "base/alloc.h"
#include "ops/simd/lanes.h"
#include "ops/simd/tile.h"

#include <string.h>

/* --- plan ------------------------------------------------------------------------------------*/

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Rows long enough for the last vector of windows, which may reach beyond the last window. */
static void describe(struct psd_op *op, struct psd_simd_pool *p)
{
    const struct psd_pool_spec *s = p->s = &op->spec.pool;
    size_t windows = psd_simd_pieces(s->out_width, PSD_SIMD_LANES) * PSD_SIMD_LANES;
    size_t height = (s->out_height - 1) * s->stride[0] + s->kernel[0];
    size_t taps = s->kernel[0] * s->kernel[1], outputs = s->out_height * s->out_width;

    p->row = larger(windows * s->stride[1] + s->kernel[1], s->width + s->pad[1]);
    p->plane = p->row * larger(height, s->height + s->pad[0]);
    p->tasks = psd_simd_tasks(op, s->planes, 4.0 * (double)(s->planes * outputs * taps));
}

static psd_status init(struct psd_op *op, struct psd_simd_pool *p)
{
    describe(op, p);
    p->halves = psd_simd_pool_halves_suits(p->s);
    p->padded = psd_simd_zero_floats(p->tasks * p->plane);
    if (!p->padded)
        return PSD_ENOMEM;
    if (p->s->method == PSD_POOL_AVERAGE)
        return psd_simd_pool_average_init(p);
    return psd_simd_pool_max_init(p);
}

static void destroy(struct psd_simd_pool *p)
{
    psd_alloc_free(p->padded);
    psd_alloc_free(p->best);
    psd_alloc_free(p->share);
    psd_alloc_free(p->apart);
    psd_alloc_free(p);
}

/* --- work ------------------------------------------------------------------------------------*/

/* A call, as its tasks see it. */
struct call {
    const struct psd_simd_pool *pool;
    const float *x, *dy;
    float *y, *places;
    struct psd_simd_diff dx;
};

static void pad(const struct psd_simd_pool *p, const float *x, float *padded)
{
    padded += p->s->pad[0] * p->row + p->s->pad[1];
    for (size_t h = 0; h < p->s->height; h++)
        memcpy(padded + h * p->row, x + h * p->s->width, p->s->width * sizeof *x);
}

static void forward_plane(const struct call *call, size_t i, float *padded)
{
    const struct psd_simd_pool *p = call->pool;
    size_t outputs = p->s->out_height * p->s->out_width;
    const float *x = call->x + i * p->s->height * p->s->width;
    float *y = call->y + i * outputs;

    if (!p->halves)
        pad(p, x, padded);
    if (p->s->method == PSD_POOL_AVERAGE)
        psd_simd_pool_average(p, padded, y);
    else if (p->halves)
        psd_simd_pool_halves(p, x, y, p->best + i * outputs);
    else
        psd_simd_pool_max(p, padded, y, p->best + i * outputs);
    if (call->places)
        psd_simd_pool_max_places(p, p->best + i * outputs, call->places + i * outputs);
}

static psd_status forward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct psd_simd_pool *p = call->pool;
    size_t end = psd_simd_piece(p->s->planes, p->tasks, task + 1);

    for (size_t i = psd_simd_piece(p->s->planes, p->tasks, task); i < end; i++)
        forward_plane(call, i, p->padded + task * p->plane);
    return PSD_OK;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_simd_pool *p = op->plan;
    struct call call = {
        .pool = p,
        .x = psd_tensor_host(values->in[0]),
        .y = psd_tensor_host(values->out[0]),
        .places = psd_tensor_host(values->out[1]),
    };

    return psd_pool_each(psd_ops_pool(op->ops), p->tasks, forward_task, &call);
}

static void backward_plane(const struct call *call, size_t i, float *apart)
{
    const struct psd_simd_pool *p = call->pool;
    size_t inputs = p->s->height * p->s->width, outputs = p->s->out_height * p->s->out_width;
    const float *dy = call->dy + i * outputs;
    float *dx = call->dx.to + i * inputs;

    if (p->s->method == PSD_POOL_AVERAGE) {
        psd_simd_pool_average_back(p, dy, apart, call->dx.adds, dx);
    } else if (p->halves) {
        psd_simd_pool_halves_back(p, p->best + i * outputs, dy, call->dx.adds, dx);
    } else {
        if (!call->dx.adds)
            memset(dx, 0, inputs * sizeof *dx);
        psd_simd_pool_max_back(p, p->best + i * outputs, dy, dx);
    }
}

static psd_status backward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct psd_simd_pool *p = call->pool;
    float *apart = p->apart ? p->apart + task * p->apart_plane : NULL;
    size_t end = psd_simd_piece(p->s->planes, p->tasks, task + 1);

    for (size_t i = psd_simd_piece(p->s->planes, p->tasks, task); i < end; i++)
        backward_plane(call, i, apart);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_simd_pool *p = op->plan;
    struct call call = {
        .pool = p,
        .dy = psd_tensor_host(values->out_diff[0]),
        .dx = psd_simd_diff(values, 0),
    };

    if (!call.dx.to)
        return PSD_OK;
    return psd_pool_each(psd_ops_pool(op->ops), p->tasks, backward_task, &call);
}

static void drop(struct psd_op *op)
{
    destroy(op->plan);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward, .drop = drop};

/* Winners are numbered in bytes; drawing is left to others. */
psd_status psd_simd_plan_pool(struct psd_op *op)
{
    const struct psd_pool_spec *s = &op->spec.pool;

    if (s->method == PSD_POOL_STOCHASTIC || s->kernel[0] > 16 || s->kernel[1] > 16)
        return PSD_ENOSUP;
    struct psd_simd_pool *pool = psd_alloc_zero(1, sizeof *pool);
    if (!pool)
        return PSD_ENOMEM;
    psd_status status = init(op, pool);
    if (status != PSD_OK) {
        destroy(pool);
        return status;
    }
    op->code = &code;
    op->plan = pool;
    return PSD_OK;
}
