/* pool.c - one value out of each window of an image.
 *
 *       pad |  image                     | pad
 *     ......|............................|......
 *     [ window 0 ]                                a window starts every `stride` pixels; what lies
 *             [ window 1 ]                        in the padding takes no part in it, except that
 *                                   [ last   ]    the average divides by the padded area
 *
 *     MAX           the largest value; of equal ones the first
 *     AVERAGE       the sum, divided by the pixels of the window up to the end of the padding
 *     STOCHASTIC    a value drawn with a probability proportional to it; when it is not training,
 *                   the mean with these probabilities: sum x^2 / sum x, or 0 where the sum is not >
 * 0
 *
 * A plane is one image with one channel. */
#include "base/random.h"
#include "ops/plain/plain.h"

#include <string.h>

/* The pixels of a window along one axis. */
struct span {
    size_t from, to; /* in the image; to is behind the last */
    size_t padded;   /* how many there are with the padding */
};

struct window {
    struct span h, w;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct span span_of(const struct psd_pool_spec *s, int axis, size_t out)
{
    size_t size = axis ? s->width : s->height, pad = s->pad[axis];
    size_t from = out * s->stride[axis]; /* counted from the start of the padding */
    size_t to = smaller(from + s->kernel[axis], size + 2 * pad);

    return (struct span){from > pad ? from - pad : 0, smaller(to - pad, size), to - from};
}

/* Of output i of a plane. */
static struct window window_of(const struct psd_pool_spec *s, size_t i)
{
    return (struct window){span_of(s, 0, i / s->out_width), span_of(s, 1, i % s->out_width)};
}

/* --- one window
 * ----------------------------------------------------------------------------------*/

static size_t largest(const struct psd_pool_spec *s, const float *x, struct window v)
{
    size_t best = v.h.from * s->width + v.w.from;

    for (size_t h = v.h.from; h < v.h.to; h++) {
        for (size_t w = v.w.from; w < v.w.to; w++) {
            if (x[h * s->width + w] > x[best])
                best = h * s->width + w;
        }
    }
    return best;
}

struct sums {
    double x, squares;
};

static struct sums sums_of(const struct psd_pool_spec *s, const float *x, struct window v)
{
    struct sums sums = {0, 0};

    for (size_t h = v.h.from; h < v.h.to; h++) {
        for (size_t w = v.w.from; w < v.w.to; w++) {
            double value = (double)x[h * s->width + w];
            sums.x += value;
            sums.squares += value * value;
        }
    }
    return sums;
}

/* The first pixel at which the sum so far reaches `draw` (in [0, 1)) of the whole. */
static size_t drawn(const struct psd_pool_spec *s, const float *x, struct window v, double draw)
{
    double threshold = draw * sums_of(s, x, v).x, sum = 0;

    for (size_t h = v.h.from; h < v.h.to; h++) {
        for (size_t w = v.w.from; w < v.w.to; w++) {
            sum += (double)x[h * s->width + w];
            if (sum >= threshold)
                return h * s->width + w;
        }
    }
    return (v.h.to - 1) * s->width + v.w.to - 1;
}

/* --- all windows
 * ---------------------------------------------------------------------------------*/

/* A plane on its way through pooling. */
struct plane {
    const struct psd_pool_spec *s;
    const struct psd_op_values *values;
    size_t index;
    const float *x;
};

static struct plane plane_of(const struct psd_op *op, const struct psd_op_values *values, size_t i)
{
    const struct psd_pool_spec *s = &op->spec.pool;
    const float *x = psd_tensor_host(values->in[0]);

    return (struct plane){s, values, i, x + i * s->height * s->width};
}

static bool has_winner(const struct psd_pool_spec *s)
{
    return s->method == PSD_POOL_MAX || (s->method == PSD_POOL_STOCHASTIC && s->train);
}

/* The place that output i of a plane is taken from. */
static size_t winner(const struct plane *p, size_t i)
{
    struct window window = window_of(p->s, i);
    size_t channels = p->s->channels ? p->s->channels : p->s->planes;
    size_t element = p->index % channels * p->s->out_height * p->s->out_width + i;

    if (p->s->method == PSD_POOL_MAX)
        return largest(p->s, p->x, window);
    uint64_t index = psd_op_draw(p->values, p->index / channels, element);
    float draw = psd_random_uniform(p->values->seed, p->values->stream, index);
    return drawn(p->s, p->x, window, (double)draw);
}

/* Output i of a plane where none wins. */
static double mean(const struct plane *p, size_t i)
{
    struct window window = window_of(p->s, i);
    struct sums sums = sums_of(p->s, p->x, window);

    if (p->s->method == PSD_POOL_AVERAGE)
        return sums.x / (double)(window.h.padded * window.w.padded);
    return sums.x > 0 ? sums.squares / sums.x : 0;
}

static void forward_plane(const struct plane *p, float *y, float *places)
{
    for (size_t i = 0; i < p->s->out_height * p->s->out_width; i++) {
        if (has_winner(p->s)) {
            size_t place = winner(p, i);
            y[i] = p->x[place];
            if (places)
                places[i] = (float)place;
        } else {
            y[i] = (float)mean(p, i);
        }
    }
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_pool_spec *s = &op->spec.pool;
    size_t outputs = s->out_height * s->out_width;
    float *y = psd_tensor_host(values->out[0]), *places = psd_tensor_host(values->out[1]);

    for (size_t i = 0; i < s->planes; i++) {
        struct plane plane = plane_of(op, values, i);
        forward_plane(&plane, y + i * outputs, places ? places + i * outputs : NULL);
    }
    return PSD_OK;
}

/* --- backward
 * ------------------------------------------------------------------------------------*/

/* Hands dy of output i back to all pixels of its window: each has a part of 1 / area in an average,
 * and of (2 x - y) / sum in a weighted mean. */
static void share(const struct plane *p, size_t i, double dy, float *dx)
{
    struct window v = window_of(p->s, i);
    bool average = p->s->method == PSD_POOL_AVERAGE;
    double sum = average ? (double)(v.h.padded * v.w.padded) : sums_of(p->s, p->x, v).x;
    double y = average ? 0 : mean(p, i);

    if (!(sum > 0))
        return;
    for (size_t h = v.h.from; h < v.h.to; h++) {
        for (size_t w = v.w.from; w < v.w.to; w++) {
            size_t at = h * p->s->width + w;
            double part = average ? 1 : 2 * (double)p->x[at] - y;
            dx[at] += (float)(part * dy / sum);
        }
    }
}

static void backward_plane(const struct plane *p, const float *dy, float *dx)
{
    for (size_t i = 0; i < p->s->out_height * p->s->out_width; i++) {
        if (has_winner(p->s))
            dx[winner(p, i)] += dy[i];
        else
            share(p, i, (double)dy[i], dx);
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_pool_spec *s = &op->spec.pool;
    size_t inputs = s->height * s->width, outputs = s->out_height * s->out_width;
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    if (dx.to && !dx.adds)
        memset(dx.to, 0, s->planes * inputs * sizeof *dx.to);
    for (size_t i = 0; dx.to && i < s->planes; i++) {
        struct plane plane = plane_of(op, values, i);
        backward_plane(&plane, dy + i * outputs, dx.to + i * inputs);
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_pool = {.forward = forward, .backward = backward};
