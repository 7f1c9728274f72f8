/* turn.h - between planes, as tensors are, and pixels, whose channels lie in vectors.
 *
 *     planes [channels][plane]            pixels [pixels][step]
 *     x x x x x ...                       x y z .         step: channels in whole vectors
 *     y y y y y ...          <-->         x y z .
 *     z z z z z ...                       x y z .
 *
 * Between them may be a border, whose pixels nobody touches. Any thread. */
#ifndef PSD_OPS_SIMD_TURN_H
#define PSD_OPS_SIMD_TURN_H

#include <stdbool.h>
#include <stddef.h>

/* `count` pixels that follow each other in each plane. `pixels` begins at a whole vector; the lanes
 * that fill up the last one become 0. */
void psd_simd_to_pixels(const float *planes, size_t plane, size_t channels, size_t count,
                        float *pixels, size_t step);

/* The way back; the planes are set or added to. */
void psd_simd_to_planes(const float *pixels, size_t step, size_t channels, size_t count, bool adds,
                        float *planes, size_t plane);

/* Where the pixels of an image are. */
struct psd_simd_pixels {
    size_t channels, height, width; /* of the image: planes one after the other */
    size_t step;                    /* floats of a pixel */
    size_t row;                     /* pixels of a row, with its border */
    size_t count;                   /* and of all rows */
    size_t first;                   /* the pixel where the image begins */
};

/* The whole image, there and back. */
void psd_simd_pixels_load(const struct psd_simd_pixels *to, const float *image, float *pixels);
void psd_simd_pixels_store(const struct psd_simd_pixels *from, const float *pixels, bool adds,
                           float *image);

#endif
