/* kernel.h - the inner loops of products, of which each instruction set has its own.
 *
 *     tile.h  norm.h                 the loops, written once, over lanes
 *     plain.h  plain.c               lanes in plain C: they run anywhere
 *     avx2.c  avx512.c               lanes of x86
 *     kernels.c                      the list, best first
 *
 * All give the same bits; product_test.c compares those that this processor can run. To add one,
 * write product/<name>.c and add its line to kernels.c. */
#ifndef PSD_MATH_PRODUCT_KERNEL_H
#define PSD_MATH_PRODUCT_KERNEL_H

#include "math/product.h"

#include <stdbool.h>

enum {
    PSD_PRODUCT_TILE_ROWS = 6, /* a tile stays in registers: so many rows by ...       */
    PSD_PRODUCT_VECTORS = 2,   /* ... so many vectors, 12 sums hide the latency of FMAs */
    PSD_PRODUCT_LANES = 16,    /* in a vector, at most */
    PSD_PRODUCT_WIDTH = PSD_PRODUCT_VECTORS * PSD_PRODUCT_LANES,
    PSD_PRODUCT_DOTS_I = 3, /* a tile of the Gram matrix: so many samples by ... */
    PSD_PRODUCT_DOTS_J = 4  /* ... so many others                                */
};

/* A tile's work. */
struct psd_product_tile {
    size_t steps;             /* samples */
    const float *u;           /* [steps][rows of the tile] */
    const float *const *from; /* [steps]: the rows of v */
    size_t column;            /* of the tile's first column in them */
    float *v;                 /* [steps][width]: the tile's columns of v, packed */
    float *out;               /* [rows][cols], from the tile's first element on */
    size_t cols;
    bool adds; /* to what is in `out`, instead of 0 */
};

typedef void psd_product_multiply(const struct psd_product_tile *tile);

struct psd_product_kernel {
    const char *name;
    bool (*usable)(void); /* whether this processor can run it */
    size_t width;         /* columns of a tile: PSD_PRODUCT_WIDTH at most */

    /* Computes a tile of r + 1 rows. pack[r] takes v from `from` and fills `v` on its way, for the
     * tiles below; multiply[r] takes it from there. */
    psd_product_multiply *pack[PSD_PRODUCT_TILE_ROWS], *multiply[PSD_PRODUCT_TILE_ROWS];

    /* The sums over n columns of products of each a with each b, as defined in product.h for a tile
     * of the Gram matrix. */
    void (*dots)(const float *const a[PSD_PRODUCT_DOTS_I], const float *const b[PSD_PRODUCT_DOTS_J],
                 size_t n, double sums[PSD_PRODUCT_DOTS_I][PSD_PRODUCT_DOTS_J]);

    /* h[r] += g[j] * u[j][r] for j = 0, 1 ... n - 1, each product rounded; u is
     * [n][PSD_PRODUCT_ROWS]. */
    void (*weigh)(const double *g, const double *u, size_t n, double h[PSD_PRODUCT_ROWS]);
};

/* All that are built, best first; ends with NULL. */
extern const struct psd_product_kernel *const psd_product_kernels[];
extern const struct psd_product_kernel psd_product_avx512, psd_product_avx2, psd_product_plain;

/* The first that is usable. */
const struct psd_product_kernel *psd_product_kernel_choose(void);

/* What product.h has, by the kernel given. */
void psd_product_rows_by(const struct psd_product_kernel *kernel,
                         const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                         size_t cols, float *out);
void psd_product_gram_by(const struct psd_product_kernel *kernel,
                         const struct psd_product_block *blocks, size_t n_blocks, size_t cols,
                         double *gram);
void psd_product_squares_by(const struct psd_product_kernel *kernel,
                            const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                            const double *gram, double *tiles);

#endif
