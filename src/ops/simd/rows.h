/* rows.h - rows of values that go through memory once: their sums, and lines through them.
 *
 *     sums    sum of (a - from_a),  sum of (a - from_a) * (b - from_b)
 *     line    to = by_a * (a - from_a) + by_b * (b - from_b) + plus
 *
 * What works on channels (batch_norm.c, scale.c) is made of these. Sums are made in lanes of floats
 * for some thousand values, and in double from there on. Any thread. */
#ifndef PSD_OPS_SIMD_ROWS_H
#define PSD_OPS_SIMD_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* Two rows of `count` values and what they are measured from. */
struct psd_simd_rows {
    size_t count;
    const float *a, *b;
    float from_a, from_b;
};

/* Adds both sums to what is in `sums`; b may be a. */
void psd_simd_row_sums(const struct psd_simd_rows *rows, double sums[2]);

struct psd_simd_line {
    float by_a, by_b, plus;
    bool adds; /* to what is there */
};

/* `to` may be a or b. b NULL: there is no such term. */
void psd_simd_row_line(const struct psd_simd_rows *rows, const struct psd_simd_line *line,
                       float *to);

#endif
