/* relu.c - y = x > 0 ? x : slope * x, in vectors; the tail by masks. */
#include "ops/simd/lanes.h"
#include "ops/simd/simd.h"
#include "ops/simd/tile.h"

/* What a task does, forward or backward: to[i] = sign[i] > 0 ? from[i] : slope * from[i]. */
struct call {
    size_t count, tasks;
    float slope;
    const float *sign, *from;
    float *to;
    bool adds;
};

PSD_SIMD_INLINE __m256 bend(__m256 sign, __m256 from, __m256 slope)
{
    __m256 positive = _mm256_cmp_ps(sign, _mm256_setzero_ps(), _CMP_GT_OQ);
    return _mm256_blendv_ps(_mm256_mul_ps(slope, from), from, positive);
}

PSD_SIMD static void bend_range(const struct call *call, size_t begin, size_t end)
{
    const __m256 slope = _mm256_set1_ps(call->slope);
    size_t i = begin;

    for (; i + PSD_SIMD_LANES <= end; i += PSD_SIMD_LANES) {
        __m256 y = bend(_mm256_loadu_ps(call->sign + i), _mm256_loadu_ps(call->from + i), slope);
        if (call->adds)
            y = _mm256_add_ps(_mm256_loadu_ps(call->to + i), y);
        _mm256_storeu_ps(call->to + i, y);
    }
    if (i < end) {
        __m256i mask = psd_simd_mask(end - i);
        __m256 y = bend(_mm256_maskload_ps(call->sign + i, mask),
                        _mm256_maskload_ps(call->from + i, mask), slope);
        if (call->adds)
            y = _mm256_add_ps(_mm256_maskload_ps(call->to + i, mask), y);
        _mm256_maskstore_ps(call->to + i, mask, y);
    }
}

static psd_status run_task(void *arg, size_t task)
{
    const struct call *call = arg;

    bend_range(call, psd_simd_piece(call->count, call->tasks, task),
               psd_simd_piece(call->count, call->tasks, task + 1));
    return PSD_OK;
}

/* A value costs about as much as 50 operations that stay in registers. */
static psd_status run(const struct psd_op *op, struct call *call)
{
    call->count = op->spec.relu.count;
    call->slope = op->spec.relu.slope;
    call->tasks = psd_simd_tasks(op, call->count, 50.0 * (double)call->count);
    return psd_pool_each(psd_ops_pool(op->ops), call->tasks, run_task, call);
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const float *x = psd_tensor_host(values->in[0]);
    struct call call = {.sign = x, .from = x, .to = psd_tensor_host(values->out[0])};

    return run(op, &call);
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    struct psd_simd_diff dx = psd_simd_diff(values, 0);
    struct call call = {
        .sign = psd_tensor_host(values->in[0]),
        .from = psd_tensor_host(values->out_diff[0]),
        .to = dx.to,
        .adds = dx.adds,
    };

    return dx.to ? run(op, &call) : PSD_OK;
}

static const struct psd_op_code code = {.forward = forward, .backward = backward};

psd_status psd_simd_plan_relu(struct psd_op *op)
{
    op->code = &code;
    return PSD_OK;
}
