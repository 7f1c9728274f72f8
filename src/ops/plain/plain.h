/* plain.h - every operation in simple loops: the definition of what the others compute faster.
 *
 * A sum is made in double in the order in which its loop runs, and rounded to a float once, so that
 * what another backend differs by is its own rounding. (Only pooling's gradient, where few windows
 * share a pixel, adds floats.) Logarithms and powers are the C library's. One thread, no memory of
 * its own, no plan: backward looks at the inputs again. */
#ifndef PSD_OPS_PLAIN_PLAIN_H
#define PSD_OPS_PLAIN_PLAIN_H

#include "ops/backend.h"

extern const struct psd_op_code psd_plain_conv, psd_plain_pool, psd_plain_fc, psd_plain_relu,
    psd_plain_tanh, psd_plain_lrn, psd_plain_dropout, psd_plain_softmax, psd_plain_softmax_loss,
    psd_plain_batch_norm, psd_plain_scale, psd_plain_bias, psd_plain_eltwise, psd_plain_lstm_unit,
    psd_plain_map, psd_plain_prelu, psd_plain_reduce, psd_plain_distance_loss, psd_plain_hinge_loss,
    psd_plain_sigmoid_loss, psd_plain_columns, psd_plain_conv_nd, psd_plain_deconv;

/* Where a gradient goes. */
struct psd_plain_diff {
    float *to; /* NULL: it is not wanted */
    bool adds;
};

static inline struct psd_plain_diff psd_plain_diff(const struct psd_op_values *values, unsigned i)
{
    return (struct psd_plain_diff){psd_tensor_host(values->in_diff[i]), values->adds >> i & 1};
}

/* Sets element i of a gradient, or adds to it. */
static inline void psd_plain_put(struct psd_plain_diff diff, size_t i, double value)
{
    diff.to[i] = (float)(diff.adds ? (double)diff.to[i] + value : value);
}

#endif
