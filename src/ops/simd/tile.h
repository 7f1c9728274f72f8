/* tile.h - the two inner loops that all products of this backend are made of.
 *
 *     outer    to[t][p] += scale[s][t] * from[p + shift[s]]      for all steps s
 *              t: a few rows, one number broadcast to 8 lanes each;  p: places of 8 results each
 *
 *     dot      to[r][t] += a[t][i] * b[place[i] + shift[r]]      for all steps i
 *              eight products in each step, which are added up at the end
 *
 * A convolution with stride 1 is an outer product whose shifts are the places in the kernel's window,
 * (channel, y, x) in one list; its gradient to x is another one, and that to w is a dot product with
 * the same shifts. A fully connected layer is all three with shifts that step through rows. Neither
 * loop knows about channels, windows or padding: the tables do.
 *
 * A tile is what stays in registers from the first step to the last: of the 16 there are, up to 12
 * hold sums, which hides the latency of an FMA (4 cycles, two a cycle, so 8 are needed), 3 hold what
 * is reused, 1 what is not. A tile of 4 by 3 does 12 FMAs for 7 loads. Any thread. */
#ifndef PSD_OPS_SIMD_TILE_H
#define PSD_OPS_SIMD_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PSD_SIMD_ROWS = 6,   /* a tile's most rows (t) */
    PSD_SIMD_COLUMNS = 3 /* and columns: vectors p, or rows r; rows * columns <= 12 */
};

/* All sizes of tiles, for whoever makes a kernel of each. */
#define PSD_SIMD_SIZES(SIZE) \
    SIZE(1, 1)               \
    SIZE(1, 2)               \
    SIZE(1, 3)               \
    SIZE(2, 1)               \
    SIZE(2, 2)               \
    SIZE(2, 3)               \
    SIZE(3, 1)               \
    SIZE(3, 2)               \
    SIZE(3, 3)               \
    SIZE(4, 1)               \
    SIZE(4, 2)               \
    SIZE(4, 3)               \
    SIZE(5, 1)               \
    SIZE(5, 2)               \
    SIZE(6, 1)               \
    SIZE(6, 2)

/* How many rows a tile has at most that is this many columns wide. */
static inline size_t psd_simd_rows(size_t columns)
{
    return columns < PSD_SIMD_COLUMNS ? PSD_SIMD_ROWS : 4;
}

/* Things are cut into pieces of `most` at most, as equal as can be: how many pieces there are, and
 * where one starts; the piece after the last starts at `count`. */
static inline size_t psd_simd_pieces(size_t count, size_t most)
{
    return (count + most - 1) / most;
}

static inline size_t psd_simd_piece(size_t count, size_t pieces, size_t index)
{
    size_t larger = count % pieces; /* the first ones have one more */

    return index * (count / pieces) + (index < larger ? index : larger);
}

/* Eight results: two quads, each with its place in `from` and in `to`. */
struct psd_simd_place {
    size_t from[2], to[2];
};

struct psd_simd_outer {
    const float *scale; /* [steps][scale_step], of which a tile uses `rows` neighbours */
    size_t scale_step;
    const float *from;
    const size_t *shift; /* [steps] */
    size_t steps;
    float *to; /* [rows][to_step] */
    size_t to_step;
    const float *start; /* [rows]: what each row's sums start from; NULL: 0 */
    bool adds;          /* sums start from what is in `to`, instead */
};

/* Computes `rows` rows at `count` places, which are all whole (the second quad follows the first)
 * or all split. columns is the widest tile to use; rows <= psd_simd_rows(columns). */
void psd_simd_outer(const struct psd_simd_outer *job, size_t rows, size_t columns,
                    const struct psd_simd_place *places, size_t count, bool split);

/* The width of tiles that suits so many rows at so many whole and split places. */
size_t psd_simd_outer_columns(size_t rows, size_t whole, size_t split);

struct psd_simd_dot {
    const float *a; /* eight factors of row t in step i at t * a_row + i * a_step */
    size_t a_row, a_step;
    const float *b;
    const size_t *place; /* [steps]: where the eight factors of b are that belong to them */
    size_t steps;
    size_t tail; /* lanes of one more step, which has a place too; 0: there is none */
    float *to;   /* column r at r * to_step, in it a float for each row */
    size_t to_step;
    const float *start; /* [rows], as above */
    bool adds;
};

/* Computes one tile: rows * columns dot products, one column for each of the shifts. */
void psd_simd_dot(const struct psd_simd_dot *job, size_t rows, const size_t *shift, size_t columns);

#endif
