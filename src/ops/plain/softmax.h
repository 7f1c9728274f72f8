/* softmax.h - a column of channels, for softmax and its loss. */
#ifndef PSD_OPS_PLAIN_SOFTMAX_H
#define PSD_OPS_PLAIN_SOFTMAX_H

#include <stddef.h>

/* The values of all channels at one place: x[0], x[inner], x[2 * inner] ... */
struct psd_plain_column {
    const float *x; /* borrowed */
    size_t channels, inner;
    double largest; /* of the values; taken off before exp, which then cannot overflow */
    double sum;     /* of exp(x - largest) */
};

struct psd_plain_column psd_plain_column(const float *x, size_t channels, size_t inner);

/* The probability of a channel. */
double psd_plain_probability(const struct psd_plain_column *column, size_t channel);

#endif
