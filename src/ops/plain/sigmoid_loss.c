/* sigmoid_loss.c - how surprised a net is by targets in [0, 1], each for itself.
 *
 *     p = 1 / (1 + exp(-x))
 *     loss = sum of -(t log p + (1 - t) log(1 - p)) / norm        dx = (p - t) * dloss / norm
 *
 * A place with the ignored target adds nothing, and its gradient is 0. norm is as for softmax_loss.c:
 * the places (FULL), those that count (VALID), the samples (BATCH_SIZE) or 1 (NONE); at least 1. */
#include "ops/plain/plain.h"

#include <math.h>

static bool counts(const struct psd_sigmoid_loss_spec *s, float target)
{
    return !s->has_ignored || trunc((double)target) != s->ignored;
}

static double norm_of(const struct psd_sigmoid_loss_spec *s, const float *t)
{
    size_t valid = 0;

    for (size_t i = 0; i < s->batch * s->row; i++)
        valid += counts(s, t[i]);
    const double norms[] = {
        [PSD_LOSS_FULL] = (double)(s->batch * s->row),
        [PSD_LOSS_VALID] = valid ? (double)valid : 1,
        [PSD_LOSS_BATCH_SIZE] = (double)s->batch,
        [PSD_LOSS_NONE] = 1,
    };
    return norms[s->norm];
}

/* -(t log p + (1 - t) log(1 - p)), with no exponential above 1. */
static double cost(double x, double t)
{
    return x > 0 ? x * (1 - t) + log1p(exp(-x)) : -x * t + log1p(exp(x));
}

static double probability(double x)
{
    return 1 / (1 + exp(-x));
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_sigmoid_loss_spec *s = &op->spec.sigmoid_loss;
    const float *x = psd_tensor_host(values->in[0]), *t = psd_tensor_host(values->in[1]);
    float *p = psd_tensor_host(values->out[1]);
    double sum = 0;

    for (size_t i = 0; i < s->batch * s->row; i++) {
        sum += counts(s, t[i]) ? cost((double)x[i], (double)t[i]) : 0;
        if (p)
            p[i] = (float)probability((double)x[i]);
    }
    psd_tensor_host(values->out[0])[0] = (float)(sum / norm_of(s, t));
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_sigmoid_loss_spec *s = &op->spec.sigmoid_loss;
    const float *x = psd_tensor_host(values->in[0]), *t = psd_tensor_host(values->in[1]);
    double factor = (double)psd_tensor_host(values->out_diff[0])[0] / norm_of(s, t);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t i = 0; dx.to && i < s->batch * s->row; i++) {
        double error = probability((double)x[i]) - (double)t[i];
        psd_plain_put(dx, i, counts(s, t[i]) ? error * factor : 0);
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_sigmoid_loss = {.forward = forward, .backward = backward};
