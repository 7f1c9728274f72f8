/* scale.c - each channel has a factor and perhaps a bias: y = f * x + b.
 *
 *     dx = f * dy        df = sum over the channel: dy * x        db = sum over the channel: dy */
#include "ops/plain/plain.h"

static size_t channel_of(const struct psd_scale_spec *s, size_t i)
{
    return i / s->inner % s->channels;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_scale_spec *s = &op->spec.scale;
    const float *x = psd_tensor_host(values->in[0]), *f = psd_tensor_host(values->in[1]);
    const float *b = psd_tensor_host(values->in[2]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->outer * s->channels * s->inner; i++) {
        size_t c = channel_of(s, i);
        y[i] = (float)((double)f[c] * (double)x[i] + (b ? (double)b[c] : 0));
    }
    return PSD_OK;
}

/* The sum over a channel of dy, times x where that is not NULL. */
static double channel_sum(const struct psd_scale_spec *s, const float *dy, const float *x, size_t c)
{
    double sum = 0;

    for (size_t n = 0; n < s->outer; n++) {
        for (size_t i = 0; i < s->inner; i++) {
            size_t at = (n * s->channels + c) * s->inner + i;
            sum += (double)dy[at] * (x ? (double)x[at] : 1);
        }
    }
    return sum;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_scale_spec *s = &op->spec.scale;
    const float *x = psd_tensor_host(values->in[0]), *f = psd_tensor_host(values->in[1]);
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0), df = psd_plain_diff(values, 1);
    struct psd_plain_diff db = psd_plain_diff(values, 2);

    for (size_t c = 0; df.to && c < s->channels; c++)
        psd_plain_put(df, c, channel_sum(s, dy, x, c));
    for (size_t c = 0; db.to && c < s->channels; c++)
        psd_plain_put(db, c, channel_sum(s, dy, NULL, c));
    for (size_t i = 0; dx.to && i < s->outer * s->channels * s->inner; i++)
        psd_plain_put(dx, i, (double)f[channel_of(s, i)] * (double)dy[i]);
    return PSD_OK;
}

const struct psd_op_code psd_plain_scale = {.forward = forward, .backward = backward};
