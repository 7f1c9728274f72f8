/* tanh.c - y = tanh(x), dx = (1 - y^2) dy. */
#include "ops/plain/plain.h"

#include <math.h>

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < op->spec.tanh.count; i++)
        y[i] = (float)tanh((double)x[i]);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const float *y = psd_tensor_host(values->out[0]), *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t i = 0; dx.to && i < op->spec.tanh.count; i++)
        psd_plain_put(dx, i, (1 - (double)y[i] * (double)y[i]) * (double)dy[i]);
    return PSD_OK;
}

const struct psd_op_code psd_plain_tanh = {.forward = forward, .backward = backward};
