/* conv.h - what the files of convolution share: its plan.
 *
 *     forward    x --- pad ---> [batch] padded --- sweep w ---> y
 *     backward                  [batch] padded, dy --- dot products ---> dw, db
 *                dy --- pad ---> [tasks] wide --- sweep w, turned ---> dx     or
 *                dy --- spread w ---> dx                                      where that is less
 *
 * The padded x of the whole batch is kept from forward to backward: every part of dw needs all of it.
 * Where nothing is to be padded, x itself takes its place. */
#ifndef PSD_OPS_SIMD_CONV_H
#define PSD_OPS_SIMD_CONV_H

#include "ops/simd/simd.h"
#include "ops/simd/spread.h"
#include "ops/simd/sweep.h"

/* A tile of products of dy and x: a few outputs, times a few taps. */
struct psd_simd_conv_unit {
    size_t group;
    size_t output, rows; /* counted over all groups */
    size_t tap, columns;
};

/* A task is a range of units and goes through the batch in blocks of images, with dy of a block and a
 * unit packed so that it stays in the fastest cache while all taps use it. */

struct psd_simd_conv_weights {
    size_t outputs;                   /* of all groups */
    size_t vectors;                   /* of a row of dy, the last one filled up with 0 */
    size_t steps;                     /* vectors of an image: rows * vectors */
    size_t block;                     /* images */
    size_t *place;                    /* owned; [block][steps]: of the first tap, in padded x */
    size_t *still;                    /* owned; as many times 0: for sums over dy */
    struct psd_simd_conv_unit *units; /* owned; those with the same outputs follow each other */
    size_t unit_count, tasks;
    float *packed;      /* owned; [tasks][block][steps][rows of a tile][8]: dy */
    size_t packed_size; /* floats of a task */
    float *sums;        /* owned; [units][columns][rows] */
    float *bias;        /* owned; [outputs] */
};

struct psd_simd_conv {
    size_t batch, groups;
    size_t image, result;                    /* floats of an image of x and of y */
    struct psd_simd_sweep forward, backward; /* backward: only where dx is swept */
    struct psd_simd_spread spread;           /* only where it is not */
    bool spreads;
    float *padded;       /* owned; [batch][padded image]; NULL: x needs none */
    size_t padded_image; /* floats */
    float *wide;         /* owned; [tasks][padded dy of an image] */
    size_t wide_image;
    size_t tasks; /* for images, forward and backward */
    struct psd_simd_conv_weights weights;
};

psd_status psd_simd_conv_weights_init(struct psd_op *op, struct psd_simd_conv *conv);
void psd_simd_conv_weights_fini(struct psd_simd_conv_weights *weights);

/* Computes the task's part of dw and db; one of them may be missing. */
void psd_simd_conv_weights_run(const struct psd_simd_conv *conv, size_t task, const float *x,
                               const float *dy, struct psd_simd_diff dw, struct psd_simd_diff db);

#endif
