/* pool.h - what the files of pooling share: its plan.
 *
 *     plane --- copy ---> padded plane            eight windows at a time, one tap after the other:
 *                         +-----------+
 *                         |  +-----+  |           x[0] x[2] x[4] ...    tap 0, stride 2
 *                         |  |     |  |           x[1] x[3] x[5] ...    tap 1
 *                         +-----------+
 *
 * The border is wide enough for all windows and for whole vectors. A task is a range of planes. */
#ifndef PSD_OPS_SIMD_POOL_H
#define PSD_OPS_SIMD_POOL_H

#include "ops/simd/simd.h"

struct psd_simd_pool {
    const struct psd_pool_spec *s; /* borrowed from the operation */
    size_t row, plane;             /* floats of a padded row and plane */
    size_t tasks;
    float *padded; /* owned; [tasks][plane]; the border is -infinity for MAX, 0 for AVERAGE */

    unsigned tap[256];   /* MAX: where taps are in a plane, from the window's first pixel */
    unsigned char *best; /* MAX, owned; [planes][out_height][out_width]: the winning tap */
    bool halves;         /* MAX, by the shorter way for windows of 2 x 2 side by side */

    float *share;     /* AVERAGE, owned; [out_height][out_width]: 1 / pixels of the window */
    size_t apart_row; /* AVERAGE: floats of a row in `apart` */
    size_t apart_plane;
    float *apart; /* AVERAGE, owned; [tasks][height][apart_row]: dy with the stride's gaps, 0 */
};

/* MAX numbers taps in bytes. */
psd_status psd_simd_pool_max_init(struct psd_simd_pool *pool);

/* Of one plane: y and the winners; the winners' places; dx, to which is added. */
void psd_simd_pool_max(const struct psd_simd_pool *pool, const float *padded, float *y,
                       unsigned char *best);
void psd_simd_pool_max_places(const struct psd_simd_pool *pool, const unsigned char *best,
                              float *places);
void psd_simd_pool_max_back(const struct psd_simd_pool *pool, const unsigned char *best,
                            const float *dy, float *dx);

/* The same for windows of 2 x 2 side by side, from x itself; dx is set or added to. */
bool psd_simd_pool_halves_suits(const struct psd_pool_spec *spec);
void psd_simd_pool_halves(const struct psd_simd_pool *pool, const float *x, float *y,
                          unsigned char *best);
void psd_simd_pool_halves_back(const struct psd_simd_pool *pool, const unsigned char *best,
                               const float *dy, bool adds, float *dx);

/* Of one plane: y; dx, which is set or added to. `apart` is the task's. */
psd_status psd_simd_pool_average_init(struct psd_simd_pool *pool);
void psd_simd_pool_average(const struct psd_simd_pool *pool, const float *padded, float *y);
void psd_simd_pool_average_back(const struct psd_simd_pool *pool, const float *dy, float *apart,
                                bool adds, float *dx);

#endif
