/* reduce.c - one number from each row.
 *
 *     sum      y = k * sum of x           dx = k * dy
 *     asum     y = k * sum of |x|         dx = k * sign(x) * dy, 0 where x is 0
 *     sumsq    y = k * sum of x^2         dx = 2 k * x * dy
 *     mean     y = k / count * sum of x   dx = k / count * dy */
#include "ops/plain/plain.h"

#include <math.h>

static double factor(const struct psd_reduce_spec *s)
{
    double k = (double)s->coefficient;
    return s->method == PSD_REDUCE_MEAN ? k / (double)s->count : k;
}

static double term(const struct psd_reduce_spec *s, double x)
{
    if (s->method == PSD_REDUCE_ASUM)
        return fabs(x);
    return s->method == PSD_REDUCE_SUMSQ ? x * x : x;
}

static double slope(const struct psd_reduce_spec *s, double x)
{
    if (s->method == PSD_REDUCE_ASUM)
        return (x > 0) - (x < 0);
    return s->method == PSD_REDUCE_SUMSQ ? 2 * x : 1;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_reduce_spec *s = &op->spec.reduce;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t n = 0; n < s->rows; n++) {
        double sum = 0;
        for (size_t i = 0; i < s->count; i++)
            sum += term(s, (double)x[n * s->count + i]);
        y[n] = (float)(factor(s) * sum);
    }
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_reduce_spec *s = &op->spec.reduce;
    const float *x = psd_tensor_host(values->in[0]), *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t i = 0; dx.to && i < s->rows * s->count; i++)
        psd_plain_put(dx, i, factor(s) * slope(s, (double)x[i]) * (double)dy[i / s->count]);
    return PSD_OK;
}

const struct psd_op_code psd_plain_reduce = {.forward = forward, .backward = backward};
