/* distance_loss.c - how far two arrays are apart: sum of (a - b)^2 / 2 / batch.
 *
 *     da = (a - b) * dloss / batch        db = -da */
#include "ops/plain/plain.h"

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_distance_loss_spec *s = &op->spec.distance_loss;
    const float *a = psd_tensor_host(values->in[0]), *b = psd_tensor_host(values->in[1]);
    double sum = 0;

    for (size_t i = 0; i < s->batch * s->row; i++) {
        double off = (double)a[i] - (double)b[i];
        sum += off * off;
    }
    psd_tensor_host(values->out[0])[0] = (float)(sum / 2 / (double)s->batch);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_distance_loss_spec *s = &op->spec.distance_loss;
    const float *a = psd_tensor_host(values->in[0]), *b = psd_tensor_host(values->in[1]);
    double factor = (double)psd_tensor_host(values->out_diff[0])[0] / (double)s->batch;

    for (unsigned input = 0; input < 2; input++) {
        struct psd_plain_diff diff = psd_plain_diff(values, input);
        for (size_t i = 0; diff.to && i < s->batch * s->row; i++) {
            double off = (double)a[i] - (double)b[i];
            psd_plain_put(diff, i, factor * (input ? -off : off));
        }
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_distance_loss = {.forward = forward, .backward = backward};
