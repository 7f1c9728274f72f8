/* batch_norm.c - every channel gets the mean 0 and the variance 1; see plain/batch_norm.c.
 *
 *     forward     x: its mean      x: its variance      x -> y          three times through x
 *     backward    dy, x: two sums                       dy, x -> dx     twice through both
 *
 * A task is a range of channels, and a channel's rows are added up in the order of samples. Mean and
 * root stay in the plan for backward. Rows shorter than a vector are left to plain. */
#include "base/alloc.h"
#include "ops/simd/lanes.h"
#include "ops/simd/rows.h"
#include "ops/simd/simd.h"
#include "ops/simd/tile.h"

#include <math.h>

struct norm {
    size_t tasks;
    float *mean;    /* owned; [channels] */
    float *inverse; /* owned; [channels]: 1 / sqrt(variance + eps) */
};

/* A call, as its tasks see it. */
struct call {
    const struct psd_batch_norm_spec *spec;
    const struct norm *norm;
    const float *x, *given, *dy;
    float *y, *measured;
    struct psd_simd_diff dx;
};

static size_t row_at(const struct call *call, size_t n, size_t c)
{
    return (n * call->spec->channels + c) * call->spec->inner;
}

static double count(const struct call *call)
{
    return (double)call->spec->batch * (double)call->spec->inner;
}

/* --- forward -----------------------------------------------------------------------------------*/

/* The sums of a channel's values and squares, both measured from `from`. */
static void add_channel(const struct call *call, size_t c, float from, double sums[2])
{
    for (size_t n = 0; n < call->spec->batch; n++) {
        const float *x = call->x + row_at(call, n, c);
        struct psd_simd_rows rows = {call->spec->inner, x, x, from, from};
        psd_simd_row_sums(&rows, sums);
    }
}

/* The mean is a float, and so may be off by its rounding; what that adds to the variance is known. */
static void measure(const struct call *call, size_t c, double *mean, double *variance)
{
    double sums[2] = {0, 0}, offs[2] = {0, 0};

    add_channel(call, c, 0, sums);
    *mean = sums[0] / count(call);
    add_channel(call, c, (float)*mean, offs);
    double off = offs[0] / count(call);
    double squares = offs[1] / count(call) - off * off;
    *variance = squares < 0 ? 0 : squares; /* fmax would hide NaN */
}

static void find_statistics(const struct call *call, size_t c)
{
    size_t channels = call->spec->channels;
    double mean, variance;

    if (call->given) {
        mean = (double)call->given[c];
        variance = (double)call->given[channels + c];
    } else
        measure(call, c, &mean, &variance);
    call->norm->mean[c] = (float)mean;
    call->norm->inverse[c] = (float)(1 / sqrt(variance + (double)call->spec->eps));
    if (call->measured) {
        call->measured[c] = (float)mean;
        call->measured[channels + c] = (float)variance;
    }
}

static psd_status forward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    size_t channels = call->spec->channels, tasks = call->norm->tasks;

    for (size_t c = psd_simd_piece(channels, tasks, task);
         c < psd_simd_piece(channels, tasks, task + 1); c++) {
        find_statistics(call, c);
        for (size_t n = 0; n < call->spec->batch; n++) {
            struct psd_simd_rows rows = {
                .count = call->spec->inner,
                .a = call->x + row_at(call, n, c),
                .from_a = call->norm->mean[c],
            };
            struct psd_simd_line line = {.by_a = call->norm->inverse[c]};
            psd_simd_row_line(&rows, &line, call->y + row_at(call, n, c));
        }
    }
    return PSD_OK;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    struct norm *norm = op->plan;
    struct call call = {
        .spec = &op->spec.batch_norm,
        .norm = norm,
        .x = psd_tensor_host(values->in[0]),
        .given = psd_tensor_host(values->in[1]),
        .y = psd_tensor_host(values->out[0]),
        .measured = psd_tensor_host(values->out[1]),
    };

    return psd_pool_each(psd_ops_pool(op->ops), norm->tasks, forward_task, &call);
}

/* --- backward ----------------------------------------------------------------------------------*/

static struct psd_simd_rows both_rows(const struct call *call, size_t n, size_t c)
{
    return (struct psd_simd_rows){
        .count = call->spec->inner,
        .a = call->dy + row_at(call, n, c),
        .b = call->x + row_at(call, n, c),
        .from_b = call->norm->mean[c],
    };
}

/* dx = inverse * (dy - sum / count - (x - mean) * inverse^2 * product / count). */
static struct psd_simd_line gradient_line(const struct call *call, size_t c)
{
    double inverse = (double)call->norm->inverse[c], sums[2] = {0, 0};

    for (size_t n = 0; !call->given && n < call->spec->batch; n++) {
        struct psd_simd_rows rows = both_rows(call, n, c);
        psd_simd_row_sums(&rows, sums);
    }
    return (struct psd_simd_line){
        .by_a = (float)inverse,
        .by_b = (float)(-inverse * inverse * inverse * sums[1] / count(call)),
        .plus = (float)(-inverse * sums[0] / count(call)),
        .adds = call->dx.adds,
    };
}

static psd_status backward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    size_t channels = call->spec->channels, tasks = call->norm->tasks;

    for (size_t c = psd_simd_piece(channels, tasks, task);
         c < psd_simd_piece(channels, tasks, task + 1); c++) {
        struct psd_simd_line line = gradient_line(call, c);
        for (size_t n = 0; n < call->spec->batch; n++) {
            struct psd_simd_rows rows = both_rows(call, n, c);
            if (call->given)
                rows.b = NULL;
            psd_simd_row_line(&rows, &line, call->dx.to + row_at(call, n, c));
        }
    }
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    struct norm *norm = op->plan;
    struct call call = {
        .spec = &op->spec.batch_norm,
        .norm = norm,
        .x = psd_tensor_host(values->in[0]),
        .given = psd_tensor_host(values->in[1]),
        .dy = psd_tensor_host(values->out_diff[0]),
        .dx = psd_simd_diff(values, 0),
    };

    if (!call.dx.to)
        return PSD_OK;
    return psd_pool_each(psd_ops_pool(op->ops), norm->tasks, backward_task, &call);
}

/* --- plan --------------------------------------------------------------------------------------*/

static void drop(struct psd_op *op)
{
    struct norm *norm = op->plan;

    psd_alloc_free(norm->mean);
    psd_alloc_free(norm->inverse);
    psd_alloc_free(norm);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward, .drop = drop};

/* A value costs about as much as 100 operations that stay in registers. */
psd_status psd_simd_plan_batch_norm(struct psd_op *op)
{
    const struct psd_batch_norm_spec *s = &op->spec.batch_norm;

    if (s->inner < PSD_SIMD_LANES)
        return PSD_ENOSUP;
    struct norm *norm = psd_alloc_zero(1, sizeof *norm);
    if (!norm)
        return PSD_ENOMEM;
    op->plan = norm;
    norm->mean = psd_simd_floats(s->channels);
    norm->inverse = psd_simd_floats(s->channels);
    if (!norm->mean || !norm->inverse) {
        drop(op);
        return PSD_ENOMEM;
    }
    norm->tasks = psd_simd_tasks(op, s->channels,
                                 100.0 * (double)s->batch * (double)(s->channels * s->inner));
    op->code = &code;
    return PSD_OK;
}
