/* layout.h - which rank owns which piece of which parameter.
 *
 *     conv1 weight   [ 0 ][ 1 ][ 2 ]                 one part each, cut evenly over all ranks
 *     conv1 bias     [   ]
 *     bn scale       [ 3 ]                           small neighbours, which become ready together,
 *     bn shift       [   ]                           share a piece: one part for each of them
 *     fc6            [4][5][6][7][8][9]              128 KB at most
 *     bn mean        [10]                            what is averaged shares pieces with its like,
 *     bn 2 mean      [  ]                            from any layer: no rule keeps anything for it
 *
 * A piece is what travels at once and what another piece overtakes at; its owner (the server) adds
 * its gradients up and updates its values. Pieces of a dense parameter begin at multiples of 4096
 * values, so that norms are block sums (math/sum.h); those of a row-sharded one belong to whole row
 * tiles (math/product.h) of one rank. Every parameter has pieces, since initial values travel in
 * them too. The layout follows from the planned job alone and is constant, shared like it. */
#ifndef PSD_COMM_LAYOUT_H
#define PSD_COMM_LAYOUT_H

#include "comm/job.h"

enum {
    PSD_LAYOUT_MOST = 128 << 10, /* bytes of the largest piece; */
    PSD_LAYOUT_LEAST = 64 << 10, /* dense parameters below it share a piece of at most as much, and
                                    none is cut smaller */
    PSD_LAYOUT_PARTS = 64        /* of a shared piece */
};

/* A range of one parameter in a piece. */
struct psd_part {
    uint32_t param;
    uint32_t piece;
    size_t first, count; /* values of the parameter */
    size_t at;           /* where it begins in the piece; 0 for the first part */
};

struct psd_piece {
    uint32_t server;            /* the rank that owns it */
    uint32_t first_part, parts; /* in layout->parts */
    size_t count;               /* values in all */
};

/* Pieces of one parameter: consecutive, and for a small dense one the piece that it shares. */
struct psd_layout_param {
    uint32_t first_piece, pieces;
    uint32_t first_part; /* the part of the first piece; the others follow */
};

/* Rows of a factored parameter that one rank rebuilds. */
struct psd_rows {
    size_t first, end; /* multiples of PSD_PRODUCT_ROWS, or the end of the matrix */
};

struct psd_layout {
    const struct psd_job *job; /* borrowed; outlives us */
    struct psd_part *parts;    /* owned, as all below */
    size_t n_parts;
    struct psd_piece *pieces;
    size_t n_pieces;
    struct psd_layout_param *params; /* [job->n_params] */
    size_t most;                     /* bytes of the largest piece */
};

/* Lays out a planned job. `most` is the size of the largest piece in bytes, 0 for PSD_LAYOUT_MOST;
 * one below PSD_LAYOUT_LEAST also takes its place. Pieces are larger where a block of 4096 values,
 * or a row of a row-sharded parameter, is. */
psd_status psd_layout_create(const struct psd_job *job, size_t most, struct psd_layout **out);
void psd_layout_destroy(struct psd_layout *layout);

/* The rows of factored weight `param` that `rank` rebuilds; all of them on the broadcast and local
 * routes, none (first == end) where the rank has no share. Its bias has the same rows as columns, in
 * one piece for each rank that has any. */
struct psd_rows psd_layout_rows(const struct psd_layout *layout, size_t param, unsigned rank);

/* Bytes of all pieces that `rank` owns of dense parameters. */
size_t psd_layout_owned(const struct psd_layout *layout, unsigned rank);

#endif
