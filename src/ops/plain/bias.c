/* bias.c - each channel has a number that is added to it: y = x + b.
 *
 *     dx = dy        db = sum over the channel: dy */
#include "ops/plain/plain.h"

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_bias_spec *s = &op->spec.bias;
    const float *x = psd_tensor_host(values->in[0]), *b = psd_tensor_host(values->in[1]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->outer * s->channels * s->inner; i++)
        y[i] = x[i] + b[i / s->inner % s->channels];
    return PSD_OK;
}

static double channel_sum(const struct psd_bias_spec *s, const float *dy, size_t c)
{
    double sum = 0;

    for (size_t n = 0; n < s->outer; n++) {
        for (size_t i = 0; i < s->inner; i++)
            sum += (double)dy[(n * s->channels + c) * s->inner + i];
    }
    return sum;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_bias_spec *s = &op->spec.bias;
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0), db = psd_plain_diff(values, 1);

    for (size_t c = 0; db.to && c < s->channels; c++)
        psd_plain_put(db, c, channel_sum(s, dy, c));
    for (size_t i = 0; dx.to && i < s->outer * s->channels * s->inner; i++)
        psd_plain_put(dx, i, (double)dy[i]);
    return PSD_OK;
}

const struct psd_op_code psd_plain_bias = {.forward = forward, .backward = backward};
