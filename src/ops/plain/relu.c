/* relu.c - y = x > 0 ? x : slope * x. At 0 the gradient is that of the left side, as in Caffe. */
#include "ops/plain/plain.h"

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_relu_spec *s = &op->spec.relu;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->count; i++)
        y[i] = x[i] > 0 ? x[i] : s->slope * x[i];
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_relu_spec *s = &op->spec.relu;
    const float *x = psd_tensor_host(values->in[0]);
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t i = 0; dx.to && i < s->count; i++)
        psd_plain_put(dx, i, (double)(x[i] > 0 ? dy[i] : s->slope * dy[i]));
    return PSD_OK;
}

const struct psd_op_code psd_plain_relu = {.forward = forward, .backward = backward};
