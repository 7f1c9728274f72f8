/* dropout.c - drops each value with probability `ratio` and scales the others, so that the expected
 * value stays.
 *
 *     y = u < ratio ? 0 : x / (1 - ratio)        u = psd_random_uniform(seed, stream, (n, e))
 *
 * for element e of sample n, counted by psd_op_draw. The mask is looked up, not kept: backward asks
 * for the same numbers again. */
#include "base/random.h"
#include "ops/plain/plain.h"

/* What element i is multiplied with, forward and backward. */
static float mask(const struct psd_dropout_spec *s, const struct psd_op_values *values, size_t i)
{
    uint64_t index = psd_op_draw(values, i / s->row, i % s->row);
    bool dropped = psd_random_uniform(values->seed, values->stream, index) < s->ratio;

    return dropped ? 0 : 1 / (1 - s->ratio);
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_dropout_spec *s = &op->spec.dropout;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t i = 0; i < s->count; i++)
        y[i] = x[i] * mask(s, values, i);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_dropout_spec *s = &op->spec.dropout;
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);

    for (size_t i = 0; dx.to && i < s->count; i++)
        psd_plain_put(dx, i, (double)(dy[i] * mask(s, values, i)));
    return PSD_OK;
}

const struct psd_op_code psd_plain_dropout = {.forward = forward, .backward = backward};
