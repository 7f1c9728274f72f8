/* lrn.c - local response normalization, by sums over neighbours:
 *
 *     scale = k + alpha / area * near(x^2)                      y  = x * scale^-beta
 *     dx = dy * scale^-beta - 2 alpha beta / area * x * near(dy * x * scale^-(beta + 1))
 *
 *     near, across channels    channels c-r ... c+r of the same pixel
 *     near, within a channel   a square: first down the rows, then along them between guards of 0
 *
 * A task is a range of images and has an image of memory for each of: what is added up, the sums,
 * and rows with guards. Powers are made of square roots, so beta is 3/4, as everywhere. */
#include "base/alloc.h"
#include "ops/simd/lanes.h"
#include "ops/simd/simd.h"
#include "ops/simd/tile.h"

struct lrn {
    const struct psd_lrn_spec *s; /* borrowed from the operation */
    size_t radius, plane, image;  /* plane, image: floats */
    size_t guarded;               /* floats of a row with its guards */
    size_t size;                  /* floats of each of a task's three parts, whole vectors */
    size_t tasks;
    float k, weight; /* scale = k + weight * sum */
    float *memory;   /* owned; [tasks][3][size] */
};

/* --- sums over neighbours --------------------------------------------------------------------*/

PSD_SIMD static void add_channels(const struct lrn *l, const float *from, float *to)
{
    for (size_t c = 0; c < l->s->channels; c++, to += l->plane) {
        size_t first = c > l->radius ? c - l->radius : 0;
        size_t end = c + l->radius + 1 < l->s->channels ? c + l->radius + 1 : l->s->channels;
        for (size_t p = 0; p < l->plane; p += PSD_SIMD_LANES) {
            __m256 sum = _mm256_setzero_ps();
            for (size_t i = first; i < end; i++)
                sum = _mm256_add_ps(sum, _mm256_loadu_ps(from + i * l->plane + p));
            _mm256_storeu_ps(to + p, sum); /* the last may reach into the next channel, or slack */
        }
    }
}

PSD_SIMD static void add_down(const struct lrn *l, const float *plane, float *guarded)
{
    size_t height = l->s->height, width = l->s->width;

    for (size_t h = 0; h < height; h++) {
        size_t first = h > l->radius ? h - l->radius : 0;
        size_t end = h + l->radius + 1 < height ? h + l->radius + 1 : height;
        float *row = guarded + h * l->guarded + l->radius;
        for (size_t w = 0; w < width; w += PSD_SIMD_LANES) {
            __m256 sum = _mm256_setzero_ps();
            for (size_t i = first; i < end; i++)
                sum = _mm256_add_ps(sum, _mm256_loadu_ps(plane + i * width + w));
            psd_simd_store(row + w, sum, width - w);
        }
    }
}

PSD_SIMD static void add_along(const struct lrn *l, const float *guarded, float *plane)
{
    size_t width = l->s->width;

    for (size_t h = 0; h < l->s->height; h++) {
        for (size_t w = 0; w < width; w += PSD_SIMD_LANES) {
            __m256 sum = _mm256_setzero_ps();
            for (size_t i = 0; i < l->s->size; i++)
                sum = _mm256_add_ps(sum, _mm256_loadu_ps(guarded + h * l->guarded + w + i));
            _mm256_storeu_ps(plane + h * width + w, sum); /* as in add_channels */
        }
    }
}

/* Sums over what is near, for a whole image. */
static void near(const struct lrn *l, const float *from, float *guarded, float *to)
{
    if (!l->s->within) {
        add_channels(l, from, to);
        return;
    }
    for (size_t c = 0; c < l->s->channels; c++) {
        add_down(l, from + c * l->plane, guarded);
        add_along(l, guarded, to + c * l->plane);
    }
}

/* --- images ----------------------------------------------------------------------------------*/

/* scale, and scale^(-3/4). */
PSD_SIMD_INLINE __m256 power(const struct lrn *l, __m256 sum, __m256 *scale)
{
    *scale = _mm256_fmadd_ps(_mm256_set1_ps(l->weight), sum, _mm256_set1_ps(l->k));
    __m256 root = _mm256_sqrt_ps(*scale);
    return _mm256_div_ps(_mm256_set1_ps(1), _mm256_mul_ps(root, _mm256_sqrt_ps(root)));
}

PSD_SIMD_INLINE __m256 load(const float *from, size_t left)
{
    return left >= PSD_SIMD_LANES ? _mm256_loadu_ps(from)
                                  : _mm256_maskload_ps(from, psd_simd_mask(left));
}

/* A task's memory. */
struct memory {
    float *terms, *sums, *guarded;
};

static struct memory memory_of(const struct lrn *l, size_t task)
{
    float *first = l->memory + 3 * task * l->size;

    return (struct memory){first, first + l->size, first + 2 * l->size};
}

PSD_SIMD static void add_squares(const struct lrn *l, const float *x, struct memory m)
{
    for (size_t i = 0; i < l->image; i += PSD_SIMD_LANES) {
        __m256 value = load(x + i, l->image - i);
        _mm256_store_ps(m.terms + i, _mm256_mul_ps(value, value));
    }
    near(l, m.terms, m.guarded, m.sums);
}

PSD_SIMD static void forward_image(const struct lrn *l, const float *x, struct memory m, float *y)
{
    __m256 scale;

    add_squares(l, x, m);
    for (size_t i = 0; i < l->image; i += PSD_SIMD_LANES) {
        __m256 factor = power(l, _mm256_load_ps(m.sums + i), &scale);
        psd_simd_store(y + i, _mm256_mul_ps(load(x + i, l->image - i), factor), l->image - i);
    }
}

/* The sums make way for scale^(-3/4) * dy, once the terms are made from them. */
PSD_SIMD static void backward_image(const struct lrn *l, const float *x, const float *dy,
                                    struct memory m, struct psd_simd_diff dx)
{
    const __m256 back = _mm256_set1_ps(-2 * l->weight * l->s->beta);
    __m256 scale;

    add_squares(l, x, m);
    for (size_t i = 0; i < l->image; i += PSD_SIMD_LANES) {
        __m256 factor = power(l, _mm256_load_ps(m.sums + i), &scale);
        __m256 own = _mm256_mul_ps(load(dy + i, l->image - i), factor);
        __m256 term = _mm256_mul_ps(own, load(x + i, l->image - i));
        _mm256_store_ps(m.terms + i, _mm256_div_ps(term, scale));
        psd_simd_store(dx.to + i, dx.adds ? _mm256_add_ps(load(dx.to + i, l->image - i), own) : own,
                       l->image - i);
    }
    near(l, m.terms, m.guarded, m.sums);
    for (size_t i = 0; i < l->image; i += PSD_SIMD_LANES) {
        __m256 others = _mm256_mul_ps(_mm256_load_ps(m.sums + i), load(x + i, l->image - i));
        __m256 own = load(dx.to + i, l->image - i);
        psd_simd_store(dx.to + i, _mm256_fmadd_ps(back, others, own), l->image - i);
    }
}

/* --- tasks -----------------------------------------------------------------------------------*/

/* A call, as its tasks see it. */
struct call {
    const struct lrn *lrn;
    const float *x, *dy;
    float *y;
    struct psd_simd_diff dx;
};

static psd_status forward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct lrn *l = call->lrn;
    size_t end = psd_simd_piece(l->s->batch, l->tasks, task + 1);

    for (size_t n = psd_simd_piece(l->s->batch, l->tasks, task); n < end; n++)
        forward_image(l, call->x + n * l->image, memory_of(l, task), call->y + n * l->image);
    return PSD_OK;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct lrn *l = op->plan;
    struct call call = {
        .lrn = l, .x = psd_tensor_host(values->in[0]), .y = psd_tensor_host(values->out[0])};

    return psd_pool_each(psd_ops_pool(op->ops), l->tasks, forward_task, &call);
}

static psd_status backward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct lrn *l = call->lrn;
    size_t end = psd_simd_piece(l->s->batch, l->tasks, task + 1);

    for (size_t n = psd_simd_piece(l->s->batch, l->tasks, task); n < end; n++) {
        struct psd_simd_diff dx = {call->dx.to + n * l->image, call->dx.adds};
        backward_image(l, call->x + n * l->image, call->dy + n * l->image, memory_of(l, task), dx);
    }
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct lrn *l = op->plan;
    struct call call = {
        .lrn = l,
        .x = psd_tensor_host(values->in[0]),
        .dy = psd_tensor_host(values->out_diff[0]),
        .dx = psd_simd_diff(values, 0),
    };

    if (!call.dx.to)
        return PSD_OK;
    return psd_pool_each(psd_ops_pool(op->ops), l->tasks, backward_task, &call);
}

/* --- plan ------------------------------------------------------------------------------------*/

static void drop(struct psd_op *op)
{
    struct lrn *l = op->plan;

    psd_alloc_free(l->memory);
    psd_alloc_free(l);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward, .drop = drop};

/* Slack of a vector at the end of each part, and guards on both sides of each row. */
static void describe(struct psd_op *op, struct lrn *l)
{
    const struct psd_lrn_spec *s = l->s = &op->spec.lrn;
    float size = (float)s->size;

    l->radius = (s->size - 1) / 2;
    l->plane = s->height * s->width;
    l->image = s->channels * l->plane;
    l->guarded = s->width + s->size;
    size_t guarded = s->within ? s->height * l->guarded + PSD_SIMD_LANES : 0;
    size_t floats = (l->image > guarded ? l->image : guarded) + PSD_SIMD_LANES;
    l->size = psd_simd_pieces(floats, PSD_SIMD_LANES) * PSD_SIMD_LANES;
    l->tasks = psd_simd_tasks(op, s->batch, 100.0 * (double)(s->batch * l->image));
    l->k = s->within ? 1 : s->k;
    l->weight = s->alpha / (s->within ? size * size : size);
}

psd_status psd_simd_plan_lrn(struct psd_op *op)
{
    if (op->spec.lrn.beta != 0.75F)
        return PSD_ENOSUP;
    struct lrn *l = psd_alloc_zero(1, sizeof *l);
    if (!l)
        return PSD_ENOMEM;
    describe(op, l);
    l->memory = psd_simd_zero_floats(3 * l->tasks * l->size);
    if (!l->memory) {
        psd_alloc_free(l);
        return PSD_ENOMEM;
    }
    op->code = &code;
    op->plan = l;
    return PSD_OK;
}
