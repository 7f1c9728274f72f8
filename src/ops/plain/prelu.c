/* prelu.c - y = x > 0 ? x : a * x with a slope a for each channel.
 *
 *     dx = x > 0 ? dy : a * dy        da = sum over the channel where x <= 0: x * dy */
#include "ops/plain/plain.h"

static size_t channel_of(const struct psd_prelu_spec *s, size_t i)
{
    return i / s->inner % s->channels;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_prelu_spec *s = &op->spec.prelu;
    const float *x = psd_tensor_host(values->in[0]), *a = psd_tensor_host(values->in[1]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->outer * s->channels * s->inner; i++)
        y[i] = x[i] > 0 ? x[i] : a[channel_of(s, i)] * x[i];
    return PSD_OK;
}

static double slope_gradient(const struct psd_prelu_spec *s, const float *x, const float *dy,
                             size_t c)
{
    double sum = 0;

    for (size_t n = 0; n < s->outer; n++) {
        for (size_t i = 0; i < s->inner; i++) {
            size_t at = (n * s->channels + c) * s->inner + i;
            sum += x[at] > 0 ? 0 : (double)x[at] * (double)dy[at];
        }
    }
    return sum;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_prelu_spec *s = &op->spec.prelu;
    const float *x = psd_tensor_host(values->in[0]), *a = psd_tensor_host(values->in[1]);
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0), da = psd_plain_diff(values, 1);

    for (size_t c = 0; da.to && c < s->channels; c++)
        psd_plain_put(da, c, slope_gradient(s, x, dy, c));
    for (size_t i = 0; dx.to && i < s->outer * s->channels * s->inner; i++)
        psd_plain_put(dx, i, (x[i] > 0 ? 1 : (double)a[channel_of(s, i)]) * (double)dy[i]);
    return PSD_OK;
}

const struct psd_op_code psd_plain_prelu = {.forward = forward, .backward = backward};
