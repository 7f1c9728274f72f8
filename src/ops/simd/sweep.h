/* sweep.h - one image through a window with stride 1, by outer products.
 *
 *     image [channels][height][width]       padded                         result [outputs][..][..]
 *     +-------+                             +-----------+
 *     |       |        -- copy -->          |  +-----+  |    -- w -->      +-------+
 *     +-------+                             |  |     |  |                  +-------+
 *                                           +-----------+
 *
 * The steps of the product are the taps (channel, kh, kw) of the window in one list; a tap's shift
 * is how far it lies from the window's first pixel in the padded image. The places are all pixels of
 * the result, in quads.
 *
 * Forward, the window has the kernel's weights; to x, the image is dy, the padding fills up to a full
 * window beyond each edge, and the weights are turned around. */
#ifndef PSD_OPS_SIMD_SWEEP_H
#define PSD_OPS_SIMD_SWEEP_H

#include "ops/simd/tile.h"
#include "poseidon/status.h"

struct psd_simd_sweep {
    size_t channels, height, width; /* of the image, or of one group of its channels */
    size_t outputs, out_height, out_width;
    size_t kernel[2], dilation[2], pad[2]; /* pad: before the first row and column */

    /* What follows from these, owned; init fills it in. */
    size_t padded[2];              /* height and width */
    size_t plane;                  /* floats of a padded channel */
    size_t steps;                  /* taps of the window */
    size_t *shift;                 /* [steps] */
    struct psd_simd_place *places; /* whole ones, then split ones */
    size_t whole_count, split_count;
    size_t columns, pieces; /* how results are cut into tiles: so wide, in so many pieces of rows */
    float *weights;         /* [groups][pieces][steps][rows of the piece] */
};

/* PSD_ENOSUP: rows are too short for quads. fini is fine after any init, and on zeroes. */
psd_status psd_simd_sweep_init(struct psd_simd_sweep *sweep, size_t groups);
void psd_simd_sweep_fini(struct psd_simd_sweep *sweep);

/* Whether images must be padded before they are swept. */
bool psd_simd_sweep_pads(const struct psd_simd_sweep *sweep);

/* Copies `channels` channels into padded ones, whose borders stay as they are: 0. */
void psd_simd_sweep_pad(const struct psd_simd_sweep *sweep, size_t channels, const float *image,
                        float *padded);

/* Brings weights [groups * outputs][channels][kh][kw] into the order in which tiles read them. */
void psd_simd_sweep_pack(struct psd_simd_sweep *sweep, size_t groups, const float *w);

/* The same from the weights of the sweep in the other direction, [groups * channels][outputs][kh][kw],
 * turned around. */
void psd_simd_sweep_pack_turned(struct psd_simd_sweep *sweep, size_t groups, const float *w);

/* Computes the result of one group from its padded image. start: [outputs] or NULL, as in tile.h. */
void psd_simd_sweep_run(const struct psd_simd_sweep *sweep, size_t group, const float *padded,
                        const float *start, bool adds, float *result);

#endif
