/* spread.h - the way back from dy to dx through a window that never leaves the image.
 *
 *     dy [outputs][..][..]                  dx [channels][..][..]
 *     +-----+                               +---------+
 *     |  p  |   -- times w[..][tap] -->     |  +-----+|
 *     +-----+                               |  |  p  ||     at p + shift of tap, for each tap
 *                                           |  +-----+|
 *                                           +---------+
 *
 * Sweeping dy with a full window of padding on each side (sweep.h) does the same and writes each
 * result once, but multiplies with that padding: 12 x 12 pixels from 8 x 8 by 5 x 5 are 2.25 times the
 * work. Here only pixels of dy are multiplied, and dx is read and written once for each tap. */
#ifndef PSD_OPS_SIMD_SPREAD_H
#define PSD_OPS_SIMD_SPREAD_H

#include "ops/simd/sweep.h"

struct psd_simd_spread {
    const struct psd_simd_sweep *sweep; /* borrowed; the way there */
    size_t taps;                        /* of one channel */
    size_t *shift;                      /* owned; [outputs]: from one plane of dy to the next */
    struct psd_simd_place *places;      /* owned; those of the sweep, from and to exchanged */
    size_t columns, pieces;             /* tiles, as in a sweep; their rows are channels */
    float *weights; /* owned; [groups][pieces][taps][outputs][rows of the piece] */
};

/* Whether this is the better way back for such a sweep. */
bool psd_simd_spread_suits(const struct psd_simd_sweep *sweep);

/* fini is fine after any init, and on zeroes. */
psd_status psd_simd_spread_init(struct psd_simd_spread *spread, const struct psd_simd_sweep *sweep,
                                size_t groups);
void psd_simd_spread_fini(struct psd_simd_spread *spread);

/* Brings weights [groups * outputs][channels][kh][kw] into the order in which tiles read them. */
void psd_simd_spread_pack(struct psd_simd_spread *spread, size_t groups, const float *w);

/* Adds what dy of one group makes of its dx. */
void psd_simd_spread_run(const struct psd_simd_spread *spread, size_t group, const float *dy,
                         float *dx);

#endif
