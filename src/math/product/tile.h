/* tile.h - a tile of a product, for whatever lanes are defined before this header; else plain ones.
 *
 *                     x[0]       x[1]            registers of a tile of 6 by 2:
 *     u[k][0]  -->  sum[0][0]  sum[0][1]         12 sums, 2 of v, 1 of u
 *     u[k][1]  -->  sum[1][0]  ...
 *        ...                                     a step k: 2 loads of v, 6 of u, 12 FMAs, so 6
 *     u[k][5]  -->                               cycles where there are two FMAs in one
 *
 * The first tile of some columns reads v where it is, row by row, and packs it on its way: stores
 * are free where FMAs are the limit. The tiles below it read what it packed. */
#ifndef PSD_MATH_PRODUCT_TILE_H
#define PSD_MATH_PRODUCT_TILE_H

#include "math/product/kernel.h"

#ifndef TARGET
#include "math/product/plain.h"
#endif

/* Before a loop over registers, which must disappear: an array whose index the compiler does not
 * know lives in memory. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

enum { ROWS = PSD_PRODUCT_TILE_ROWS, VECTORS = PSD_PRODUCT_VECTORS, WIDTH = VECTORS * LANES };

typedef lanes tile_sums[ROWS][VECTORS];

/* What the sums start from. Lines of `out` are asked for now, so that they are here when the sums
 * are stored. */
INLINE void start(const struct psd_product_tile *tile, size_t rows, tile_sums sum)
{
    static const float zero = 0;

    UNROLL
    for (size_t r = 0; r < rows; r++) {
        float *out = tile->out + r * tile->cols;
        __builtin_prefetch(out, 1);
        __builtin_prefetch(out + WIDTH - 1, 1);
        UNROLL
        for (size_t c = 0; c < VECTORS; c++)
            sum[r][c] = tile->adds ? lanes_load(out + c * LANES) : lanes_spread(&zero);
    }
}

INLINE void step(const float *u, const lanes *x, size_t rows, tile_sums sum)
{
    UNROLL
    for (size_t r = 0; r < rows; r++) {
        lanes number = lanes_spread(u + r);
        UNROLL
        for (size_t c = 0; c < VECTORS; c++)
            sum[r][c] = lanes_fma(number, x[c], sum[r][c]);
    }
}

/* rows and packs are constants. */
INLINE void multiply(const struct psd_product_tile *tile, size_t rows, bool packs)
{
    const float *u = tile->u;
    float *v = tile->v;
    tile_sums sum;

    start(tile, rows, sum);
    for (size_t k = 0; k < tile->steps; k++, u += rows, v += WIDTH) {
        const float *from = packs ? tile->from[k] + tile->column : v;
        lanes x[VECTORS];
        UNROLL
        for (size_t c = 0; c < VECTORS; c++) {
            x[c] = lanes_load(from + c * LANES);
            if (packs)
                lanes_store(v + c * LANES, x[c]);
        }
        step(u, x, rows, sum);
    }
    UNROLL
    for (size_t r = 0; r < rows; r++) {
        UNROLL
        for (size_t c = 0; c < VECTORS; c++)
            lanes_store(tile->out + r * tile->cols + c * LANES, sum[r][c]);
    }
}

/* The two functions of a tile of so many rows: pack_4 and multiply_4. */
#define SIZE(rows)                                                          \
    TARGET static void pack_##rows(const struct psd_product_tile *tile)     \
    {                                                                       \
        multiply(tile, rows, true);                                         \
    }                                                                       \
    TARGET static void multiply_##rows(const struct psd_product_tile *tile) \
    {                                                                       \
        multiply(tile, rows, false);                                        \
    }
SIZE(1)
SIZE(2)
SIZE(3)
SIZE(4)
SIZE(5)
SIZE(6)

#define PACK                                           \
    {                                                  \
        pack_1, pack_2, pack_3, pack_4, pack_5, pack_6 \
    }
#define MULTIPLY                                                               \
    {                                                                          \
        multiply_1, multiply_2, multiply_3, multiply_4, multiply_5, multiply_6 \
    }

#endif
