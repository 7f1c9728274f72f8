/* product.c - how a product is cut, so that its tiles find everything in the caches.
 *
 *     STEPS samples at a time          sums go on from what the samples before left in `out`
 *         SHARE rows at a time         u of these is packed, tile by tile: 256 KiB for the L2 cache
 *             a tile's columns         v of these is packed: 16 KiB for the L1 cache
 *                 tiles, top down      the first packs v; all ask for some of the next columns
 *
 * None of this can be seen in the results: each element adds its samples in order, whatever is
 * computed in between. */
#include "math/product.h"
#include "math/product/cursor.h"
#include "math/product/kernel.h"
#include "math/sum.h"

#include <string.h>

enum { STEPS = 256, SHARE = 256 };

/* What a call needs; on its stack. */
struct room {
    _Alignas(64) float u[SHARE * STEPS];             /* [tiles][steps][rows of the tile] */
    _Alignas(64) float v[STEPS * PSD_PRODUCT_WIDTH]; /* [steps][width] */
    float edge[PSD_PRODUCT_TILE_ROWS * PSD_PRODUCT_WIDTH];
    const float *from_u[STEPS], *from_v[STEPS]; /* of each sample; borrowed from the blocks */
};

/* A call, and where it has got to. */
struct call {
    const struct psd_product_kernel *kernel;
    size_t rows, cols;
    float *out;
    struct room *room;
    size_t steps;             /* samples in the room */
    bool adds;                /* these are not the first samples */
    size_t row, share, tiles; /* the rows that are computed now, and how many tiles they are */
};

/* Things are cut into pieces as equal as can be: where one starts. */
static size_t piece(size_t count, size_t pieces, size_t index)
{
    return count * index / pieces;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- packing ------------------------------------------------------------------------------------ */

static size_t gather(struct room *room, struct psd_product_cursor *cursor, size_t cols)
{
    size_t n = 0;

    for (; n < STEPS && !psd_product_cursor_done(cursor); n++) {
        room->from_u[n] = psd_product_cursor_u(cursor);
        room->from_v[n] = psd_product_cursor_v(cursor, cols);
        psd_product_cursor_next(cursor);
    }
    return n;
}

static void pack_u(const struct call *call)
{
    float *to = call->room->u;

    for (size_t t = 0; t < call->tiles; t++) {
        size_t first = call->row + piece(call->share, call->tiles, t);
        size_t end = call->row + piece(call->share, call->tiles, t + 1);
        for (size_t k = 0; k < call->steps; k++) {
            for (size_t r = first; r < end; r++)
                *to++ = call->room->from_u[k][r];
        }
    }
}

/* The last columns, fewer than a tile has: the rest of the tile is 0. */
static void pack_edge(const struct call *call, size_t column, size_t width)
{
    float *to = call->room->v;

    memset(to, 0, call->steps * call->kernel->width * sizeof *to);
    for (size_t k = 0; k < call->steps; k++, to += call->kernel->width)
        memcpy(to, call->room->from_v[k] + column, width * sizeof *to);
}

/* --- tiles -------------------------------------------------------------------------------------- */

/* Asks for tile t's part of the next columns of v, which lie far apart. */
static void fetch(const struct call *call, size_t column, size_t t)
{
    size_t end = piece(call->steps, call->tiles, t + 1);

    for (size_t k = piece(call->steps, call->tiles, t); k < end; k++)
        __builtin_prefetch(call->room->from_v[k] + column);
}

/* A tile over the right edge is computed elsewhere, and what exists of it is copied. */
static void multiply_edge(const struct call *call, struct psd_product_tile *tile, size_t rows,
                          size_t width)
{
    float *edge = call->room->edge, *out = tile->out;

    tile->out = edge;
    tile->cols = call->kernel->width;
    for (size_t r = 0; tile->adds && r < rows; r++)
        memcpy(edge + r * tile->cols, out + r * call->cols, width * sizeof *out);
    call->kernel->multiply[rows - 1](tile);
    for (size_t r = 0; r < rows; r++)
        memcpy(out + r * call->cols, edge + r * tile->cols, width * sizeof *out);
}

/* Some columns of the rows that are computed now. */
static void multiply_columns(const struct call *call, size_t column)
{
    const struct psd_product_kernel *kernel = call->kernel;
    size_t next = column + kernel->width, width = least(kernel->width, call->cols - column);

    if (width < kernel->width)
        pack_edge(call, column, width);
    for (size_t t = 0; t < call->tiles; t++) {
        size_t first = piece(call->share, call->tiles, t);
        size_t rows = piece(call->share, call->tiles, t + 1) - first;
        struct psd_product_tile tile = {
            .steps = call->steps,
            .u = call->room->u + first * call->steps,
            .from = call->room->from_v,
            .column = column,
            .v = call->room->v,
            .out = call->out + (call->row + first) * call->cols + column,
            .cols = call->cols,
            .adds = call->adds,
        };
        if (next < call->cols)
            fetch(call, next, t);
        if (width < kernel->width)
            multiply_edge(call, &tile, rows, width);
        else if (t == 0)
            kernel->pack[rows - 1](&tile);
        else
            kernel->multiply[rows - 1](&tile);
    }
}

static void multiply_samples(struct call *call)
{
    for (call->row = 0; call->row < call->rows; call->row += call->share) {
        call->share = least(SHARE, call->rows - call->row);
        call->tiles = (call->share + PSD_PRODUCT_TILE_ROWS - 1) / PSD_PRODUCT_TILE_ROWS;
        pack_u(call);
        for (size_t column = 0; column < call->cols; column += call->kernel->width)
            multiply_columns(call, column);
    }
}

void psd_product_rows_by(const struct psd_product_kernel *kernel,
                         const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                         size_t cols, float *out)
{
    struct room room;
    struct psd_product_cursor cursor = psd_product_cursor_start(blocks, n_blocks);
    struct call call = {.kernel = kernel, .rows = rows, .cols = cols, .out = out, .room = &room};

    if (psd_product_cursor_done(&cursor))
        memset(out, 0, rows * cols * sizeof *out);
    for (; (call.steps = gather(&room, &cursor, cols)) > 0; call.adds = true)
        multiply_samples(&call);
}

void psd_product_rows(const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                      size_t cols, float *out)
{
    psd_product_rows_by(psd_product_kernel_choose(), blocks, n_blocks, rows, cols, out);
}

/* --- bias --------------------------------------------------------------------------------------- */

void psd_product_bias(const struct psd_product_block *blocks, size_t n_blocks, size_t rows,
                      float *out)
{
    struct psd_product_cursor cursor = psd_product_cursor_start(blocks, n_blocks);

    memset(out, 0, rows * sizeof *out);
    for (; !psd_product_cursor_done(&cursor); psd_product_cursor_next(&cursor))
        psd_sum_add(out, psd_product_cursor_u(&cursor), rows);
}
