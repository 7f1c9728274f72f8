/* simd.c - the backend's entry in the list. */
#include "ops/simd/simd.h"
#include "base/alloc.h"
#include "ops/compose/compose.h"

static bool usable(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static psd_status plan_conv(struct psd_op *op)
{
    psd_status status = psd_simd_plan_conv_winograd(op);

    return status == PSD_ENOSUP ? psd_simd_plan_conv(op) : status;
}

static psd_status plan(struct psd_op *op)
{
    switch (op->spec.kind) {
    case PSD_OP_CONV:
        return plan_conv(op);
    case PSD_OP_FC:
        return psd_simd_plan_fc(op);
    case PSD_OP_POOL:
        return psd_simd_plan_pool(op);
    case PSD_OP_RELU:
        return psd_simd_plan_relu(op);
    case PSD_OP_LRN:
        return psd_simd_plan_lrn(op);
    case PSD_OP_BATCH_NORM:
        return psd_simd_plan_batch_norm(op);
    case PSD_OP_SCALE:
    case PSD_OP_BIAS:
        return psd_simd_plan_scale(op);
    case PSD_OP_ELTWISE:
        return psd_simd_plan_eltwise(op);
    default:
        return psd_compose_plan(op);
    }
}

const struct psd_backend psd_backend_simd = {
    .name = "simd", .device = "host", .usable = usable, .plan = plan};

size_t psd_simd_tasks(const struct psd_op *op, size_t most, double flops)
{
    enum { EACH = 4 };            /* tasks for each thread */
    const double too_small = 2e6; /* operations in some 20 microseconds */
    size_t tasks = EACH * (size_t)psd_ops_threads(op->ops);

    if (psd_ops_threads(op->ops) == 1 || flops < too_small)
        return 1;
    return tasks < most ? tasks : most;
}

float *psd_simd_floats(size_t count)
{
    return psd_alloc_aligned(PSD_SIMD_ALIGNMENT, count * sizeof(float));
}

float *psd_simd_zero_floats(size_t count)
{
    return psd_alloc_aligned_zero(PSD_SIMD_ALIGNMENT, count * sizeof(float));
}
