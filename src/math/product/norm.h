/* norm.h - the inner loops behind the norm of a product, in double, over four lanes.
 *
 *     dots     sums of products of floats, which are exact in double: so nothing but the order of
 *              additions decides the bits. Three rows with four others are 12 sums in registers.
 *     weigh    the products are rounded, and are not fused with the additions.
 *
 * Four lanes are part of the definition; where registers are shorter, the compiler takes two. */
#ifndef PSD_MATH_PRODUCT_NORM_H
#define PSD_MATH_PRODUCT_NORM_H

#include "math/product/tile.h"

#include <string.h>

enum { WIDE = 4, I = PSD_PRODUCT_DOTS_I, J = PSD_PRODUCT_DOTS_J, QUADS = PSD_PRODUCT_ROWS / WIDE };

/* The columns from c to c + 3. */
INLINE void add_dots(const float *const a[I], const float *const b[J], size_t c, wide sum[I][J])
{
    wide x[I], y;

    UNROLL
    for (size_t i = 0; i < I; i++)
        wide_load(a[i] + c, &x[i]);
    UNROLL
    for (size_t j = 0; j < J; j++) {
        wide_load(b[j] + c, &y);
        UNROLL
        for (size_t i = 0; i < I; i++)
            wide_add(&x[i], &y, &sum[i][j]);
    }
}

/* Fewer than four columns, filled up with zeros: they change no lane, none of which is ever -0. */
INLINE void add_tail(const float *const a[I], const float *const b[J], size_t c, size_t n,
                     wide sum[I][J])
{
    float rest[I + J][WIDE] = {{0}};

    for (size_t i = 0; i < I; i++)
        memcpy(rest[i], a[i] + c, n * sizeof **rest);
    for (size_t j = 0; j < J; j++)
        memcpy(rest[I + j], b[j] + c, n * sizeof **rest);
    add_dots((const float *[I]){rest[0], rest[1], rest[2]},
             (const float *[J]){rest[3], rest[4], rest[5], rest[6]}, 0, sum);
}

TARGET static void dots(const float *const a[I], const float *const b[J], size_t n,
                        double sums[I][J])
{
    wide sum[I][J] = {{{0}}};
    size_t c = 0;

    for (; c + WIDE <= n; c += WIDE)
        add_dots(a, b, c, sum);
    if (c < n)
        add_tail(a, b, c, n - c, sum);
    UNROLL
    for (size_t i = 0; i < I; i++) {
        UNROLL
        for (size_t j = 0; j < J; j++)
            sums[i][j] = (sum[i][j][0] + sum[i][j][2]) + (sum[i][j][1] + sum[i][j][3]);
    }
}

TARGET static void weigh(const double *g, const double *u, size_t n, double h[PSD_PRODUCT_ROWS])
{
    wide sum[QUADS], x;

    UNROLL
    for (size_t q = 0; q < QUADS; q++)
        memcpy(&sum[q], h + q * WIDE, sizeof *sum);
    for (size_t j = 0; j < n; j++, u += PSD_PRODUCT_ROWS) {
        UNROLL
        for (size_t q = 0; q < QUADS; q++) {
            memcpy(&x, u + q * WIDE, sizeof x);
            sum[q] += g[j] * x;
        }
    }
    UNROLL
    for (size_t q = 0; q < QUADS; q++)
        memcpy(h + q * WIDE, &sum[q], sizeof *sum);
}

#endif
