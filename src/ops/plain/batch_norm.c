/* batch_norm.c - every channel gets the mean 0 and the variance 1.
 *
 *     n = (x - mean) / sqrt(variance + eps)        y = n
 *     dx = (dy - mean(dy) - n * mean(dy * n)) / sqrt(variance + eps)
 *
 * Means are over batch and inner places; the variance is that of these values, not an estimate for
 * others. With global statistics mean and variance are given and have no gradient: dx = dy / sqrt. */
#include "ops/plain/plain.h"

#include <math.h>

/* What a channel is moved and scaled by. */
struct channel {
    const struct psd_batch_norm_spec *spec;
    size_t index;
    double mean, variance;
};

static size_t at(const struct channel *c, size_t n, size_t i)
{
    return (n * c->spec->channels + c->index) * c->spec->inner + i;
}

static double count(const struct channel *c)
{
    return (double)c->spec->batch * (double)c->spec->inner;
}

static void measure(struct channel *c, const float *x)
{
    double sum = 0, squares = 0;

    for (size_t n = 0; n < c->spec->batch; n++) {
        for (size_t i = 0; i < c->spec->inner; i++)
            sum += (double)x[at(c, n, i)];
    }
    c->mean = sum / count(c);
    for (size_t n = 0; n < c->spec->batch; n++) {
        for (size_t i = 0; i < c->spec->inner; i++) {
            double off = (double)x[at(c, n, i)] - c->mean;
            squares += off * off;
        }
    }
    c->variance = squares / count(c);
}

/* The channel's statistics, given or measured. */
static struct channel channel_of(const struct psd_op *op, const struct psd_op_values *values,
                                 size_t index)
{
    struct channel c = {.spec = &op->spec.batch_norm, .index = index};
    const float *given = psd_tensor_host(values->in[1]);

    if (!c.spec->global)
        measure(&c, psd_tensor_host(values->in[0]));
    else {
        c.mean = (double)given[index];
        c.variance = (double)given[c.spec->channels + index];
    }
    return c;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_batch_norm_spec *s = &op->spec.batch_norm;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]), *measured = psd_tensor_host(values->out[1]);

    for (size_t k = 0; k < s->channels; k++) {
        struct channel c = channel_of(op, values, k);
        double root = sqrt(c.variance + (double)s->eps);
        for (size_t n = 0; n < s->batch; n++) {
            for (size_t i = 0; i < s->inner; i++)
                y[at(&c, n, i)] = (float)(((double)x[at(&c, n, i)] - c.mean) / root);
        }
        if (measured) {
            measured[k] = (float)c.mean;
            measured[s->channels + k] = (float)c.variance;
        }
    }
    return PSD_OK;
}

/* The gradient of one channel; x is looked at only where it has measured the statistics. */
static void channel_gradient(const struct channel *c, const float *x, const float *dy,
                             struct psd_plain_diff dx)
{
    double root = sqrt(c->variance + (double)c->spec->eps), sum = 0, product = 0;

    for (size_t n = 0; !c->spec->global && n < c->spec->batch; n++) {
        for (size_t i = 0; i < c->spec->inner; i++) {
            sum += (double)dy[at(c, n, i)];
            product += (double)dy[at(c, n, i)] * ((double)x[at(c, n, i)] - c->mean) / root;
        }
    }
    for (size_t n = 0; n < c->spec->batch; n++) {
        for (size_t i = 0; i < c->spec->inner; i++) {
            double normal = ((double)x[at(c, n, i)] - c->mean) / root;
            double common = (sum + normal * product) / count(c);
            psd_plain_put(dx, at(c, n, i), ((double)dy[at(c, n, i)] - common) / root);
        }
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t k = 0; dx.to && k < op->spec.batch_norm.channels; k++) {
        struct channel c = channel_of(op, values, k);
        channel_gradient(&c, psd_tensor_host(values->in[0]), psd_tensor_host(values->out_diff[0]),
                         dx);
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_batch_norm = {.forward = forward, .backward = backward};
