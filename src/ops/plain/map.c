/* map.c - each value for itself: y = f(x), dx = f'(x) dy. What f is, ops.h says beside its name. */
#include "ops/plain/plain.h"

#include <math.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* log(1 + exp(x)) without an exponential that is too large. */
static double soft_plus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double value(const struct psd_map_spec *s, double x)
{
    const double a = (double)s->a, b = (double)s->b, c = (double)s->c;

    switch (s->method) {
    case PSD_MAP_ABS:
        return fabs(x);
    case PSD_MAP_BNLL:
        return soft_plus(x);
    case PSD_MAP_CLIP:
        return x < a ? a : x > b ? b : x;
    case PSD_MAP_ELU:
        return x > 0 ? x : a * expm1(x);
    case PSD_MAP_EXP:
        return exp(a * (c + b * x));
    case PSD_MAP_LOG:
        return a * log(c + b * x);
    case PSD_MAP_POWER:
        return a == 0 ? 1 : pow(c + b * x, a);
    case PSD_MAP_SIGMOID:
        return sigmoid(x);
    case PSD_MAP_SWISH:
        return x * sigmoid(a * x);
    case PSD_MAP_THRESHOLD:
        return x > a;
    }
    return (double)NAN;
}

static double slope(const struct psd_map_spec *s, double x)
{
    const double a = (double)s->a, b = (double)s->b, c = (double)s->c;
    double part;

    switch (s->method) {
    case PSD_MAP_ABS:
        return (x > 0) - (x < 0);
    case PSD_MAP_BNLL:
        return sigmoid(x);
    case PSD_MAP_CLIP:
        return x >= a && x <= b;
    case PSD_MAP_ELU:
        return x > 0 ? 1 : a * exp(x);
    case PSD_MAP_EXP:
        return a * b * exp(a * (c + b * x));
    case PSD_MAP_LOG:
        return a * b / (c + b * x);
    case PSD_MAP_POWER:
        return a * b == 0 ? 0 : a * b * pow(c + b * x, a - 1);
    case PSD_MAP_SIGMOID:
        part = sigmoid(x);
        return part * (1 - part);
    case PSD_MAP_SWISH:
        part = sigmoid(a * x);
        return part + a * x * part * (1 - part);
    case PSD_MAP_THRESHOLD:
        return 0;
    }
    return (double)NAN;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_map_spec *s = &op->spec.map;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->count; i++)
        y[i] = (float)value(s, (double)x[i]);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_map_spec *s = &op->spec.map;
    const float *x = psd_tensor_host(values->in[0]), *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t i = 0; dx.to && i < s->count; i++)
        psd_plain_put(dx, i, slope(s, (double)x[i]) * (double)dy[i]);
    return PSD_OK;
}

const struct psd_op_code psd_plain_map = {.forward = forward, .backward = backward};
