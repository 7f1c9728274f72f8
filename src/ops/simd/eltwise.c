/* eltwise.c - two arrays, value by value, in vectors; see plain/eltwise.c. The tail by masks. */
#include "ops/simd/lanes.h"
#include "ops/simd/simd.h"
#include "ops/simd/tile.h"

/* What a task does with each value: y, or both gradients. */
enum step { SUM, PRODUCT, MAX, SUM_BACK, PRODUCT_BACK, MAX_BACK };

struct call {
    enum step step;
    size_t count, tasks;
    float p, q;
    const float *a, *b, *dy;
    float *y;
    struct psd_simd_diff da, db;
};

PSD_SIMD_INLINE __m256 take(const float *from, size_t i, __m256i mask, bool whole)
{
    return whole ? _mm256_loadu_ps(from + i) : _mm256_maskload_ps(from + i, mask);
}

PSD_SIMD_INLINE void give(float *to, size_t i, __m256 value, __m256i mask, bool whole)
{
    if (whole)
        _mm256_storeu_ps(to + i, value);
    else
        _mm256_maskstore_ps(to + i, mask, value);
}

PSD_SIMD_INLINE void give_diff(struct psd_simd_diff diff, size_t i, __m256 value, __m256i mask,
                               bool whole)
{
    if (!diff.to)
        return;
    if (diff.adds)
        value = _mm256_add_ps(take(diff.to, i, mask, whole), value);
    give(diff.to, i, value, mask, whole);
}

PSD_SIMD_INLINE __m256 combine(const struct call *call, enum step step, __m256 a, __m256 b)
{
    if (step == PRODUCT)
        return _mm256_mul_ps(a, b);
    if (step == MAX)
        return _mm256_blendv_ps(b, a, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
    return _mm256_fmadd_ps(_mm256_set1_ps(call->p), a, _mm256_mul_ps(_mm256_set1_ps(call->q), b));
}

/* A sum looks at neither a nor b, which may be gone. da comes last: it may be in place of dy. */
PSD_SIMD_INLINE void step_back(const struct call *call, enum step step, size_t i, __m256i mask,
                               bool whole)
{
    __m256 dy = take(call->dy, i, mask, whole), da, db;

    if (step == SUM_BACK) {
        da = _mm256_mul_ps(_mm256_set1_ps(call->p), dy);
        db = _mm256_mul_ps(_mm256_set1_ps(call->q), dy);
    } else {
        __m256 a = take(call->a, i, mask, whole), b = take(call->b, i, mask, whole);
        __m256 wins = _mm256_cmp_ps(a, b, _CMP_GT_OQ);
        bool max = step == MAX_BACK;
        da = max ? _mm256_and_ps(wins, dy) : _mm256_mul_ps(b, dy);
        db = max ? _mm256_andnot_ps(wins, dy) : _mm256_mul_ps(a, dy);
    }
    give_diff(call->db, i, db, mask, whole);
    give_diff(call->da, i, da, mask, whole);
}

PSD_SIMD_INLINE void step_at(const struct call *call, enum step step, size_t i, __m256i mask,
                             bool whole)
{
    if (step >= SUM_BACK)
        step_back(call, step, i, mask, whole);
    else
        give(call->y, i,
             combine(call, step, take(call->a, i, mask, whole), take(call->b, i, mask, whole)),
             mask, whole);
}

PSD_SIMD_INLINE void walk(const struct call *call, enum step step, size_t begin, size_t end)
{
    size_t i = begin;

    for (; i + PSD_SIMD_LANES <= end; i += PSD_SIMD_LANES)
        step_at(call, step, i, _mm256_setzero_si256(), true);
    if (i < end)
        step_at(call, step, i, psd_simd_mask(end - i), false);
}

PSD_SIMD static void walk_range(const struct call *call, size_t begin, size_t end)
{
    switch (call->step) {
    case SUM:
        walk(call, SUM, begin, end);
        break;
    case PRODUCT:
        walk(call, PRODUCT, begin, end);
        break;
    case MAX:
        walk(call, MAX, begin, end);
        break;
    case SUM_BACK:
        walk(call, SUM_BACK, begin, end);
        break;
    case PRODUCT_BACK:
        walk(call, PRODUCT_BACK, begin, end);
        break;
    case MAX_BACK:
        walk(call, MAX_BACK, begin, end);
        break;
    }
}

static psd_status run_task(void *arg, size_t task)
{
    const struct call *call = arg;

    walk_range(call, psd_simd_piece(call->count, call->tasks, task),
               psd_simd_piece(call->count, call->tasks, task + 1));
    return PSD_OK;
}

/* A value costs about as much as 50 operations that stay in registers. */
static psd_status run(const struct psd_op *op, const struct psd_op_values *values,
                      struct call *call)
{
    const struct psd_eltwise_spec *s = &op->spec.eltwise;

    call->count = s->count;
    call->p = s->coefficient[0];
    call->q = s->coefficient[1];
    call->a = psd_tensor_host(values->in[0]);
    call->b = psd_tensor_host(values->in[1]);
    call->tasks = psd_simd_tasks(op, s->count, 50.0 * (double)s->count);
    return psd_pool_each(psd_ops_pool(op->ops), call->tasks, run_task, call);
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    static const enum step steps[] = {SUM, PRODUCT, MAX};
    struct call call = {.step = steps[op->spec.eltwise.method],
                        .y = psd_tensor_host(values->out[0])};

    return run(op, values, &call);
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    static const enum step steps[] = {SUM_BACK, PRODUCT_BACK, MAX_BACK};
    struct call call = {
        .step = steps[op->spec.eltwise.method],
        .dy = psd_tensor_host(values->out_diff[0]),
        .da = psd_simd_diff(values, 0),
        .db = psd_simd_diff(values, 1),
    };

    return run(op, values, &call);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward};

psd_status psd_simd_plan_eltwise(struct psd_op *op)
{
    op->code = &code;
    return PSD_OK;
}
