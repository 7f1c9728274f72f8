/* conv_winograd.h - a convolution with a window of 5 x 5, by Winograd's way: what its files share.
 *
 *     x --- turn ---> pixels --- B ---> in  \
 *                                            product ---> out --- A ---> pixels --- turn ---> y
 *     w --- turn ---> taps   --- G ---> w   /
 *
 *     dy --- turn ---> pixels --- A ---> out
 *         in, out --- product ---> sums --- G ---> taps --- turn ---> dw
 *         out, w  --- product ---> in --- B ---> pixels --- turn ---> dx
 *
 * The result is cut into tiles of 2 x 2 pixels; a row of tiles is a band. A task has some images, and
 * takes a block of a few bands after the other through all stages, so that it stays in the cache. */
#ifndef PSD_OPS_SIMD_CONV_WINOGRAD_H
#define PSD_OPS_SIMD_CONV_WINOGRAD_H

#include "ops/simd/simd.h"
#include "ops/simd/turn.h"
#include "ops/simd/winograd.h"

#include <stdatomic.h>

/* What one task adds up. */
struct psd_simd_part {
    float *sums;  /* [points][channels] vectors of outputs: of dw */
    double *bias; /* [outputs in whole vectors]: of db */
};

/* Where one thread works, on a task after the other. */
struct psd_simd_desk {
    atomic_bool taken;
    struct psd_simd_part part; /* of its present task */
    float *x, *dx;             /* pixels of an image that all tiles cover; the border of x is 0 */
    float *y, *dy;             /* pixels of a result; where tiles reach beyond it, dy is 0 */
    float *in;                 /* [points][tiles of a block] vectors of channels */
    float *out;                /* [points][tiles of a block] vectors of outputs */
    float *taps;               /* [taps] vectors of outputs: a channel of dw */
};

struct psd_simd_conv_winograd {
    const struct psd_conv_spec *s; /* borrowed from the operation */
    size_t tiles[2];               /* rows and columns of them */
    struct psd_simd_pixels x, y;
    size_t bands;               /* of a block */
    size_t in_point, out_point; /* floats from a point to the next in a desk's in and out, */
    size_t sums_point;          /* in a part's sums and in `forward`, */
    size_t back_point;          /* and in `backward` */
    size_t tasks, threads;
    float *memory;               /* owned; all that follows */
    float *turned;               /* [channels][taps] vectors of outputs, or [taps] of channels */
    float *forward;              /* [points][channels] vectors of outputs: the weights */
    float *backward;             /* [points][outputs] vectors of channels: the same */
    float *start;                /* a vector of outputs: the bias, or 0 */
    struct psd_simd_desk *desks; /* owned; [threads] */
    struct psd_simd_part *parts; /* owned; [tasks] */
};

/* A desk for a task, until it is left. There is one for each thread, so one is free. */
struct psd_simd_desk *psd_simd_conv_winograd_sit(const struct psd_simd_conv_winograd *conv,
                                                 size_t task);
void psd_simd_conv_winograd_leave(struct psd_simd_desk *desk);

/* Brings x of the tiles of band `band`, counted over the batch, to the points; the block's i-th. */
void psd_simd_conv_winograd_in(const struct psd_simd_conv_winograd *conv,
                               const struct psd_simd_desk *desk, const float *x, size_t band,
                               size_t i);

/* The bands of a task: from the first image's to the last one's. */
size_t psd_simd_conv_winograd_band(const struct psd_simd_conv_winograd *conv, size_t task);

psd_status psd_simd_conv_winograd_backward(struct psd_op *op, const struct psd_op_values *values);

#endif
