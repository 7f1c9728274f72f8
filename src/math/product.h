/* product.h - a gradient rebuilt from its factors, to the bit.
 *
 * The gradient of an inner-product layer is a sum over samples k, of all logical workers in their
 * order; whoever has the factors u and v can compute it, or some of its rows:
 *
 *     block 0: k = 0..31       v [k][cols]
 *     block 1: k = 32..63    +-------------+
 *         ...                |             |         out[row][col] = 0
 *                            +-------------+           then, for k = 0, 1, 2 ...:
 *     u [k][rows]            +-------------+                   fmaf(u[k][row], v[k][col], out)
 *     +---+                  |             |
 *     |   |      -->         |     out     |         PSD_PRODUCT_ROWS rows are a tile of rows:
 *     +---+                  |             |         shards end at its multiples, because norms are
 *                            +-------------+         added tile by tile
 *
 * Each element is one chain of fused multiply-adds in the order of samples. So its bits depend on
 * neither the cut into blocks, nor on which rows a call computes, nor on threads, nor on the
 * instruction set; where a processor has no such instruction, fmaf() computes the same, slowly.
 * All functions are pure, safe from any thread, and need no alignment beyond that of a float. */
#ifndef PSD_MATH_PRODUCT_H
#define PSD_MATH_PRODUCT_H

#include <stddef.h>

enum {
    PSD_PRODUCT_ROWS = 16,     /* in a tile of rows */
    PSD_PRODUCT_COLUMNS = 1024 /* in a tile of columns; matters to the Gram matrix only */
};

/* The samples of one logical worker. */
struct psd_product_block {
    const float *u;  /* [count][u_stride], of which a call reads the first `rows`; borrowed */
    size_t u_stride; /* at least `rows` */
    const float *v;  /* [count][cols]; borrowed */
    size_t count;    /* may be 0 */
};

/* out[rows][cols] = the sum over all samples of u times v, as above; 0 if there are none. For rows
 * from r on, the caller adds r to each u. Overlaps nothing. Needs 300 KiB of stack and no heap;
 * reads v anew for every 256 rows, so few rows in a call cost more each. */
void psd_product_rows(const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                      size_t cols, float *out);

/* out[rows] = the sum over all samples of u, the gradient of a bias: added one by one to 0. */
void psd_product_bias(const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                      float *out);

/* The sum of squares of the product, without the product:
 *
 *     psd_product_gram(blocks, n, cols, gram);             gram = V V^T, [K][K] for K samples
 *     psd_product_squares(blocks, n, rows, gram, tiles);   the sum of each tile of rows
 *     psd_product_add_tiles(tiles, psd_product_tile_count(rows))
 *
 * All in double, where the product of two floats is exact, and in a fixed order:
 *
 *     gram[i][j]   tiles of columns first to last; in a tile, column c in lane c % 4, then
 *                  (lane 0 + lane 2) + (lane 1 + lane 3)
 *     tiles[t]     the rows of the tile first to last; in a row, with u[k] its column of u,
 *                  the sum over i = 0, 1, 2 ... of u[i] * (2 h + gram[i][i] * u[i]), where h is
 *                  the sum over j = 0, 1 ... i - 1 of gram[i][j] * u[j]
 *
 * so whoever has the sums of all tiles, computed anywhere in calls that begin at tile borders, has
 * the same total. It differs from psd_sum_squares of the product by that one's roundings. */
void psd_product_gram(const struct psd_product_block *blocks, size_t n_blocks, size_t cols,
                      double *gram);
void psd_product_squares(const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                         const double *gram, double *tiles);
size_t psd_product_tile_count(size_t rows);
double psd_product_add_tiles(const double *tiles, size_t count);

#endif
