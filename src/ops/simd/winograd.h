/* winograd.h - Winograd's convolution of a tile: 36 products where the window's way takes 100.
 *
 *     y = A' [ (G w G') * (B' x B) ] A      x: 6 x 6 pixels, w: 5 x 5 weights, y: 2 x 2 results
 *
 * A tile of x and the weights are polynomials in two variables; each is evaluated at 6 x 6 points
 * (B, G), where their product is a product of numbers, and the results are read off the product (A).
 * Sums over channels are made at the points. Every step is linear, so that gradients take the same
 * way back: with A from dy to the points, with B from there to dx, with G from there to dw.
 *
 * The points of one variable are 0, 2/3, -2/3, 3/2, -3/2 and infinity: numbers near 1 whose
 * polynomials keep rounding errors small, to a few times those of the window's way.
 *
 * Each function does one tile for one vector of channels or outputs; *_step are from one pixel, row
 * or tap to the next, and `point` from one point to the next, in floats. Any thread. */
#ifndef PSD_OPS_SIMD_WINOGRAD_H
#define PSD_OPS_SIMD_WINOGRAD_H

#include "ops/simd/lanes.h"

enum {
    PSD_SIMD_WINOGRAD_SIDE = 6,   /* of a tile of x */
    PSD_SIMD_WINOGRAD_OUT = 2,    /* of a tile of y */
    PSD_SIMD_WINOGRAD_KERNEL = 5, /* of the window */
    PSD_SIMD_WINOGRAD_POINTS =
        PSD_SIMD_WINOGRAD_SIDE * PSD_SIMD_WINOGRAD_SIDE, /* in two variables */
    PSD_SIMD_WINOGRAD_TAPS = PSD_SIMD_WINOGRAD_KERNEL * PSD_SIMD_WINOGRAD_KERNEL
};

/* Forward: x to the points, weights to the points, from the points to y. */
void psd_simd_winograd_x(const float *x, size_t row_step, size_t step, float *to, size_t point);
void psd_simd_winograd_w(const float *w, size_t step, float *to, size_t point);
void psd_simd_winograd_y(const float *from, size_t point, const float *start, float *y,
                         size_t row_step, size_t step);

/* Backward: dy to the points, from the points to dx, which is added to, and to dw. */
void psd_simd_winograd_dy(const float *dy, size_t row_step, size_t step, float *to, size_t point);
void psd_simd_winograd_dx(const float *from, size_t point, float *dx, size_t row_step, size_t step);
void psd_simd_winograd_dw(const float *from, size_t point, float *dw, size_t step);

#endif
