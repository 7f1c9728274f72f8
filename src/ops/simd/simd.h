/* simd.h - our own vectorized operations, for CPUs with AVX2 and FMA.
 *
 *     tile.h    outer.c  dot.c      the two inner loops behind most products
 *     sweep.h   sweep.c             an image through a window, by outer products
 *     spread.h  spread.c            the way back, where an image has no padding
 *     conv.c    conv_weights.c      convolution, on top of these
 *     turn.h    turn.c              from planes to pixels and back
 *     product.h product.c           products of what lies in vectors
 *     winograd.h winograd.c         fewer products for a window of 5 x 5
 *     conv_winograd.c  conv_winograd_back.c      such a convolution, on top of these
 *     fc.c                          fully connected layers
 *     pool.c    pool_max.c  pool_halves.c  pool_average.c
 *     rows.h    rows.c              rows that go through memory once
 *     batch_norm.c  scale.c         channels, on top of these
 *     relu.c    lrn.c  eltwise.c    what is bound by memory
 *
 * Each operation cuts its work into pieces that the spec and the number of threads decide, and a
 * piece owns what it writes, so that results are the same whichever thread runs it. Memory is taken
 * when an operation is planned. */
#ifndef PSD_OPS_SIMD_SIMD_H
#define PSD_OPS_SIMD_SIMD_H

#include "ops/backend.h"

/* Each sets op->code and op->plan. PSD_ENOSUP: not this spec. */
psd_status psd_simd_plan_conv_winograd(struct psd_op *op);
psd_status psd_simd_plan_conv(struct psd_op *op);
psd_status psd_simd_plan_fc(struct psd_op *op);
psd_status psd_simd_plan_pool(struct psd_op *op);
psd_status psd_simd_plan_relu(struct psd_op *op);
psd_status psd_simd_plan_lrn(struct psd_op *op);
psd_status psd_simd_plan_batch_norm(struct psd_op *op);
psd_status psd_simd_plan_scale(struct psd_op *op); /* and a bias alone */
psd_status psd_simd_plan_eltwise(struct psd_op *op);

/* Into how many tasks work is cut that has `most` parts and takes about `flops`: a few for each
 * thread, so that one which is held up does not hold up all, but one where waking a thread would
 * take longer than the work. */
size_t psd_simd_tasks(const struct psd_op *op, size_t most, double flops);

/* Memory for vectors. */
enum { PSD_SIMD_ALIGNMENT = 64 };
float *psd_simd_floats(size_t count);      /* not yet written */
float *psd_simd_zero_floats(size_t count); /* all 0 */

/* Whether input i's gradient is wanted, and where it goes. */
struct psd_simd_diff {
    float *to; /* NULL: it is not wanted */
    bool adds;
};

static inline struct psd_simd_diff psd_simd_diff(const struct psd_op_values *values, unsigned i)
{
    return (struct psd_simd_diff){psd_tensor_host(values->in_diff[i]), values->adds >> i & 1};
}

#endif
