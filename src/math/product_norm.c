/* product_norm.c - the sum of squares of a product, from the Gram matrix of v and tiles of u.
 *
 *     sum over row, col of (sum over k of u[k][row] v[k][col])^2
 *         = sum over row of (sum over i, j of u[i][row] G[i][j] u[j][row])      G = V V^T
 *
 * G is symmetric: only j <= i is computed, and counted twice for j < i. Both halves of the work go
 * in blocks that stay in the caches; the order of additions is that of product.h. */
#include "math/product.h"
#include "math/product/cursor.h"
#include "math/product/kernel.h"

#include <string.h>

/* --- the Gram matrix ---------------------------------------------------------------------------- */

enum { I = PSD_PRODUCT_DOTS_I, J = PSD_PRODUCT_DOTS_J };

/* The rows of v of the next n samples, of which there is one, from a column on; where there are no
 * more, the last again. Returns how many there are. */
static size_t take_rows(struct psd_product_cursor *cursor, size_t cols, size_t column, size_t n,
                        const float **rows)
{
    const float *last = NULL;
    size_t taken = 0;

    for (size_t i = 0; i < n; i++) {
        if (!psd_product_cursor_done(cursor)) {
            last = psd_product_cursor_v(cursor, cols) + column;
            psd_product_cursor_next(cursor);
            taken++;
        }
        rows[i] = last;
    }
    return taken;
}

/* Adds a tile of columns to G[i][j] for the four samples from `first` on as j, and all i >= j. */
static void add_columns(const struct psd_product_kernel *kernel, struct psd_product_cursor *cursor,
                        size_t first, size_t cols, size_t column, size_t samples, double *gram)
{
    size_t n = cols - column < PSD_PRODUCT_COLUMNS ? cols - column : PSD_PRODUCT_COLUMNS;
    struct psd_product_cursor below = *cursor;
    const float *a[I], *b[J];
    double sums[I][J];

    size_t width = take_rows(cursor, cols, column, J, b);
    for (size_t i = first; i < samples; i += I) {
        size_t height = take_rows(&below, cols, column, I, a);
        kernel->dots(a, b, n, sums);
        for (size_t y = 0; y < height; y++) {
            for (size_t x = 0; x < width && first + x <= i + y; x++)
                gram[(i + y) * samples + first + x] += sums[y][x];
        }
    }
}

void psd_product_gram_by(const struct psd_product_kernel *kernel,
                         const struct psd_product_block *blocks, size_t n_blocks, size_t cols,
                         double *gram)
{
    size_t samples = psd_product_samples(blocks, n_blocks);

    memset(gram, 0, samples * samples * sizeof *gram);
    for (size_t column = 0; column < cols; column += PSD_PRODUCT_COLUMNS) {
        struct psd_product_cursor cursor = psd_product_cursor_start(blocks, n_blocks);
        for (size_t first = 0; first < samples; first += J)
            add_columns(kernel, &cursor, first, cols, column, samples, gram);
    }
    for (size_t i = 0; i < samples; i++) {
        for (size_t j = 0; j < i; j++)
            gram[j * samples + i] = gram[i * samples + j];
    }
}

void psd_product_gram(const struct psd_product_block *blocks, size_t n_blocks, size_t cols,
                      double *gram)
{
    psd_product_gram_by(psd_product_kernel_choose(), blocks, n_blocks, cols, gram);
}

/* --- squares ------------------------------------------------------------------------------------ */

enum { BLOCK = 64 }; /* samples */

typedef double tile_row[PSD_PRODUCT_ROWS];

/* A tile of u for some samples, in double; rows that do not exist are 0. */
struct factors {
    size_t first, count; /* samples */
    tile_row u[BLOCK];
};

/* The next samples, of the tile that starts at `row` and has `rows` rows. */
static void take_factors(struct psd_product_cursor *cursor, size_t row, size_t rows,
                         struct factors *factors)
{
    factors->first += factors->count;
    factors->count = 0;
    memset(factors->u, 0, sizeof factors->u);
    while (factors->count < BLOCK && !psd_product_cursor_done(cursor)) {
        const float *u = psd_product_cursor_u(cursor) + row;
        for (size_t r = 0; r < rows; r++)
            factors->u[factors->count][r] = (double)u[r];
        factors->count++;
        psd_product_cursor_next(cursor);
    }
}

/* What is the same for all tiles. */
struct squares {
    const struct psd_product_kernel *kernel;
    struct psd_product_cursor start;
    const double *gram;
    size_t samples;
};

/* h[i] for the samples i of a block: first from all samples of the blocks before it, then from those
 * before i in the block itself. */
static void weigh_block(const struct squares *s, size_t row, size_t rows,
                        const struct factors *block, tile_row h[BLOCK])
{
    struct psd_product_cursor cursor = s->start;
    struct factors before = {0};
    const double *gram = s->gram + block->first * s->samples;

    memset(h, 0, BLOCK * sizeof *h);
    while (before.first + before.count < block->first) {
        take_factors(&cursor, row, rows, &before);
        for (size_t i = 0; i < block->count; i++)
            s->kernel->weigh(gram + i * s->samples + before.first, before.u[0], before.count, h[i]);
    }
    for (size_t i = 0; i < block->count; i++)
        s->kernel->weigh(gram + i * s->samples + block->first, block->u[0], i, h[i]);
}

static double add_rows(const tile_row sums, size_t rows)
{
    double total = 0;

    for (size_t r = 0; r < rows; r++)
        total += sums[r];
    return total;
}

static double square_tile(const struct squares *s, size_t row, size_t rows)
{
    struct psd_product_cursor cursor = s->start;
    struct factors block = {0};
    tile_row h[BLOCK], sums = {0};

    while (!psd_product_cursor_done(&cursor)) {
        take_factors(&cursor, row, rows, &block);
        weigh_block(s, row, rows, &block, h);
        for (size_t i = 0; i < block.count; i++) {
            double own = s->gram[(block.first + i) * (s->samples + 1)];
            for (size_t r = 0; r < PSD_PRODUCT_ROWS; r++)
                sums[r] += block.u[i][r] * (2 * h[i][r] + own * block.u[i][r]);
        }
    }
    return add_rows(sums, rows);
}

void psd_product_squares_by(const struct psd_product_kernel *kernel,
                            const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                            const double *gram, double *tiles)
{
    struct squares squares = {
        .kernel = kernel,
        .start = psd_product_cursor_start(blocks, n_blocks),
        .gram = gram,
        .samples = psd_product_samples(blocks, n_blocks),
    };

    for (size_t row = 0; row < rows; row += PSD_PRODUCT_ROWS) {
        size_t left = rows - row;
        tiles[row / PSD_PRODUCT_ROWS] =
            square_tile(&squares, row, left < PSD_PRODUCT_ROWS ? left : PSD_PRODUCT_ROWS);
    }
}

void psd_product_squares(const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                         const double *gram, double *tiles)
{
    psd_product_squares_by(psd_product_kernel_choose(), blocks, n_blocks, rows, gram, tiles);
}

size_t psd_product_tile_count(size_t rows)
{
    return rows / PSD_PRODUCT_ROWS + (rows % PSD_PRODUCT_ROWS != 0);
}

double psd_product_add_tiles(const double *tiles, size_t count)
{
    double total = 0;

    for (size_t i = 0; i < count; i++)
        total += tiles[i];
    return total;
}
