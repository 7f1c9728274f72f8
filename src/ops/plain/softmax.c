/* softmax.c - y_c = exp(x_c) / sum over the channels: exp(x), at each place for itself. */
#include "ops/plain/softmax.h"
#include "ops/plain/plain.h"

#include <math.h>

struct psd_plain_column psd_plain_column(const float *x, size_t channels, size_t inner)
{
    struct psd_plain_column column = {x, channels, inner, (double)x[0], 0};

    for (size_t c = 1; c < channels; c++)
        column.largest = fmax(column.largest, (double)x[c * inner]);
    for (size_t c = 0; c < channels; c++)
        column.sum += exp((double)x[c * inner] - column.largest);
    return column;
}

double psd_plain_probability(const struct psd_plain_column *column, size_t channel)
{
    return exp((double)column->x[channel * column->inner] - column->largest) / column->sum;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_softmax_spec *s = &op->spec.softmax;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->outer * s->inner; i++) {
        size_t first = i / s->inner * s->channels * s->inner + i % s->inner;
        struct psd_plain_column column = psd_plain_column(x + first, s->channels, s->inner);
        for (size_t c = 0; c < s->channels; c++)
            y[first + c * s->inner] = (float)psd_plain_probability(&column, c);
    }
    return PSD_OK;
}

/* dx_c = y_c * (dy_c - sum over the channels: dy y) */
static void backward_column(const struct psd_softmax_spec *s, const float *y, const float *dy,
                            struct psd_plain_diff dx)
{
    double sum = 0;

    for (size_t i = 0; i < s->channels * s->inner; i += s->inner)
        sum += (double)y[i] * (double)dy[i];
    for (size_t i = 0; i < s->channels * s->inner; i += s->inner)
        psd_plain_put(dx, i, (double)y[i] * ((double)dy[i] - sum));
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_softmax_spec *s = &op->spec.softmax;
    const float *y = psd_tensor_host(values->out[0]), *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t i = 0; dx.to && i < s->outer * s->inner; i++) {
        size_t first = i / s->inner * s->channels * s->inner + i % s->inner;
        struct psd_plain_diff part = {dx.to + first, dx.adds};
        backward_column(s, y + first, dy + first, part);
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_softmax = {.forward = forward, .backward = backward};
