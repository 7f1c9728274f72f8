/* mvn.c - MVN: the mean is taken off each channel of a sample, and its deviation becomes 1.
 *
 *     y  = (x - mean) / (deviation + eps)
 *     dx = (dy - mean(dy) - y * mean(y * dy)) / (deviation + eps)
 *
 * With across_channels a row is a whole sample, else a channel of it. With normalize_variance false
 * nothing is divided. The gradient takes eps for small, as Caffe's does. */
#include "base/alloc.h"
#include "engine/layer.h"

#include <math.h>

struct state {
    size_t rows, row;
    double *divisors; /* owned; [rows], from forward to backward */
};

static bool divides(const struct psd_layer *layer)
{
    const Caffe__MVNParameter *p = layer->param->mvn_param;
    return !p || p->normalize_variance;
}

static double eps_of(const struct psd_layer *layer)
{
    const Caffe__MVNParameter *p = layer->param->mvn_param;
    return p ? (double)p->eps : 1e-9;
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__MVNParameter *p = layer->param->mvn_param;
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    struct state *state = layer->state;
    size_t axes = p && p->across_channels ? 1 : 2;

    state->rows = psd_shape_count(shape, 0, axes < shape->axes ? axes : shape->axes);
    state->row = layer->bottom[0]->count / state->rows;
    double *divisors = psd_alloc_resize(state->divisors, state->rows, sizeof *divisors);
    if (!divisors)
        return PSD_ENOMEM;
    state->divisors = divisors;
    return psd_layer_shape_top(layer, 0, shape);
}

static double mean_of(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    return sum / (double)n;
}

static double mean_product(const float *x, const float *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    return sum / (double)n;
}

static double deviation_of(const float *x, double mean, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ((double)x[i] - mean) * ((double)x[i] - mean);
    return sqrt(sum / (double)n);
}

static psd_status forward(struct psd_layer *layer)
{
    const struct state *state = layer->state;

    for (size_t r = 0; r < state->rows; r++) {
        const float *x = psd_blob_values(layer->bottom[0]) + r * state->row;
        float *y = psd_blob_values(layer->top[0]) + r * state->row;
        double mean = mean_of(x, state->row), divisor = 1;
        if (divides(layer))
            divisor = deviation_of(x, mean, state->row) + eps_of(layer);
        for (size_t i = 0; i < state->row; i++)
            y[i] = (float)(((double)x[i] - mean) / divisor);
        state->divisors[r] = divisor;
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const struct state *state = layer->state;

    for (size_t r = 0; layer->propagates[0] && r < state->rows; r++) {
        const float *y = psd_blob_values(layer->top[0]) + r * state->row;
        const float *dy = psd_blob_gradient(layer->top[0]) + r * state->row;
        float *dx = psd_blob_gradient(layer->bottom[0]) + r * state->row;
        double mean = mean_of(dy, state->row);
        double along = divides(layer) ? mean_product(y, dy, state->row) : 0;
        for (size_t i = 0; i < state->row; i++)
            dx[i] = (float)(((double)dy[i] - mean - (double)y[i] * along) / state->divisors[r]);
    }
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    psd_alloc_free(((struct state *)layer->state)->divisors);
}

const struct psd_layer_kind psd_layer_mvn = {
    .type = "MVN",
    .about = "x less its mean, by its deviation, of each sample",
    .reads = "mvn_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .keeps_tops = true,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = drop,
};
