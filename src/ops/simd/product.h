/* product.h - a product of matrices that lie in memory with plain strides, for Winograd's points.
 *
 *     to[t][v] += a[t][s] * b[s][v]      for all steps s
 *     t: rows, one number broadcast to 8 lanes each;  v: vectors of 8 results
 *
 * Tiles are those of tile.h without its tables of places, which a product of a few dozen steps would
 * not pay for; and one call goes down all rows of a strip. Any thread. */
#ifndef PSD_OPS_SIMD_PRODUCT_H
#define PSD_OPS_SIMD_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>

struct psd_simd_product {
    const float *a; /* the number of row t in step s at t * a_row + s * a_step */
    size_t a_row, a_step;
    const float *b; /* [steps][b_step] */
    size_t b_step;
    size_t steps;
    float *to; /* [rows][to_step] */
    size_t to_step;
    size_t rows, vectors;
    bool
        adds; /* sums are added to what is in `to`, when they are complete: short sums round less */
};

void psd_simd_product(const struct psd_simd_product *job);

#endif
