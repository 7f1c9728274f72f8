/* eltwise.c - two arrays, value by value.
 *
 *     sum        y = p * a + q * b        da = p * dy            db = q * dy
 *     product    y = a * b                da = b * dy            db = a * dy
 *     max        y = a > b ? a : b        da = a > b ? dy : 0    db = a > b ? 0 : dy
 *
 * Of equal values the second is the larger one. A sum may be in place of a, so db comes first. */
#include "ops/plain/plain.h"

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_eltwise_spec *s = &op->spec.eltwise;
    const double p = (double)s->coefficient[0], q = (double)s->coefficient[1];
    const float *a = psd_tensor_host(values->in[0]), *b = psd_tensor_host(values->in[1]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->count; i++) {
        if (s->method == PSD_ELTWISE_SUM)
            y[i] = (float)(p * (double)a[i] + q * (double)b[i]);
        else if (s->method == PSD_ELTWISE_PRODUCT)
            y[i] = a[i] * b[i];
        else
            y[i] = a[i] > b[i] ? a[i] : b[i];
    }
    return PSD_OK;
}

/* By how much y changes with the input, a or b, at place i. */
static double slope(const struct psd_eltwise_spec *s, const float *a, const float *b,
                    unsigned input, size_t i)
{
    if (s->method == PSD_ELTWISE_SUM)
        return (double)s->coefficient[input];
    if (s->method == PSD_ELTWISE_PRODUCT)
        return (double)(input ? a : b)[i];
    return (a[i] > b[i]) == (input == 0);
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_eltwise_spec *s = &op->spec.eltwise;
    const float *a = psd_tensor_host(values->in[0]), *b = psd_tensor_host(values->in[1]);
    const float *dy = psd_tensor_host(values->out_diff[0]);

    for (unsigned input = 2; input-- > 0;) {
        struct psd_plain_diff diff = psd_plain_diff(values, input);
        for (size_t i = 0; diff.to && i < s->count; i++)
            psd_plain_put(diff, i, slope(s, a, b, input, i) * (double)dy[i]);
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_eltwise = {.forward = forward, .backward = backward};
