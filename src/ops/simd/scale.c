/* scale.c - y = f * x + b with a factor, a bias or both for each channel; see plain/scale.c and
 * plain/bias.c.
 *
 * A task is a range of channels: backward makes a channel's two sums and its part of dx while its
 * rows are in the cache. Rows shorter than a vector are left to plain. */
#include "ops/simd/lanes.h"
#include "ops/simd/rows.h"
#include "ops/simd/simd.h"
#include "ops/simd/tile.h"

/* A call, as its tasks see it; what an operation does not have is NULL. */
struct call {
    size_t outer, channels, inner, tasks;
    const float *x, *f, *b, *dy;
    float *y;
    struct psd_simd_diff dx, df, db;
};

static size_t row_at(const struct call *call, size_t n, size_t c)
{
    return (n * call->channels + c) * call->inner;
}

static void forward_channel(const struct call *call, size_t c)
{
    struct psd_simd_line line = {.by_a = call->f ? call->f[c] : 1,
                                 .plus = call->b ? call->b[c] : 0};

    for (size_t n = 0; n < call->outer; n++) {
        struct psd_simd_rows rows = {.count = call->inner, .a = call->x + row_at(call, n, c)};
        psd_simd_row_line(&rows, &line, call->y + row_at(call, n, c));
    }
}

static void put(struct psd_simd_diff diff, size_t c, double sum)
{
    if (diff.to)
        diff.to[c] = (float)(diff.adds ? (double)diff.to[c] + sum : sum);
}

/* The sums come first, since dx may be in place of dy. */
static void backward_channel(const struct call *call, size_t c)
{
    struct psd_simd_line line = {.by_a = call->f ? call->f[c] : 1, .adds = call->dx.adds};
    double sums[2] = {0, 0};

    for (size_t n = 0; n < call->outer; n++) {
        const float *dy = call->dy + row_at(call, n, c), *x = call->x + row_at(call, n, c);
        struct psd_simd_rows rows = {.count = call->inner, .a = dy, .b = call->df.to ? x : dy};
        if (call->df.to || call->db.to)
            psd_simd_row_sums(&rows, sums);
        rows.b = NULL;
        if (call->dx.to)
            psd_simd_row_line(&rows, &line, call->dx.to + row_at(call, n, c));
    }
    put(call->db, c, sums[0]);
    put(call->df, c, sums[1]);
}

static psd_status run_task(void *arg, size_t task)
{
    const struct call *call = arg;
    size_t end = psd_simd_piece(call->channels, call->tasks, task + 1);

    for (size_t c = psd_simd_piece(call->channels, call->tasks, task); c < end; c++) {
        if (call->y)
            forward_channel(call, c);
        else
            backward_channel(call, c);
    }
    return PSD_OK;
}

/* A value costs about as much as 50 operations that stay in registers. */
static psd_status run(const struct psd_op *op, struct call *call)
{
    bool scales = op->spec.kind == PSD_OP_SCALE;

    call->outer = scales ? op->spec.scale.outer : op->spec.bias.outer;
    call->channels = scales ? op->spec.scale.channels : op->spec.bias.channels;
    call->inner = scales ? op->spec.scale.inner : op->spec.bias.inner;
    call->tasks = psd_simd_tasks(op, call->channels,
                                 50.0 * (double)(call->outer * call->channels * call->inner));
    return psd_pool_each(psd_ops_pool(op->ops), call->tasks, run_task, call);
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    bool scales = op->spec.kind == PSD_OP_SCALE;
    struct call call = {
        .x = psd_tensor_host(values->in[0]),
        .f = scales ? psd_tensor_host(values->in[1]) : NULL,
        .b = psd_tensor_host(values->in[scales ? 2 : 1]),
        .y = psd_tensor_host(values->out[0]),
    };

    return run(op, &call);
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    bool scales = op->spec.kind == PSD_OP_SCALE;
    struct call call = {
        .x = psd_tensor_host(values->in[0]),
        .f = scales ? psd_tensor_host(values->in[1]) : NULL,
        .dy = psd_tensor_host(values->out_diff[0]),
        .dx = psd_simd_diff(values, 0),
        .db = psd_simd_diff(values, scales ? 2 : 1),
    };

    if (scales)
        call.df = psd_simd_diff(values, 1);
    return run(op, &call);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward};

psd_status psd_simd_plan_scale(struct psd_op *op)
{
    size_t inner = op->spec.kind == PSD_OP_SCALE ? op->spec.scale.inner : op->spec.bias.inner;

    if (inner < PSD_SIMD_LANES)
        return PSD_ENOSUP;
    op->code = &code;
    return PSD_OK;
}
