/* columns.c - what each tap of a window sees of an image, row by row.
 *
 *     x, a row of pixels        . . a b c d e . .          pad 2, stride 2
 *     tap 0 at all places       .   a   c   e               from, to: the places whose pixel is in
 *     tap 1 at all places         .   b   d   .             the row
 *
 * A row runs along the last axis; whether it is in the image at all, the other axes say. A plane, one
 * channel of a sample, is one thread's. */
#include "ops/compose/compose.h"

#include <string.h>

/* A row of places as one tap sees it. */
struct row {
    size_t from, to; /* the places whose pixel is in the image */
    size_t pixel;    /* of place `from`, in the plane */
    size_t step;     /* pixels from one place to the next */
};

/* Work on some planes. */
struct job {
    const struct psd_columns_spec *s;
    size_t pixels, taps, rows, row; /* rows: of one tap; row: places of one */
    size_t planes, tasks;
    const float *from;
    float *to;
    bool adds;
    void (*run)(const struct job *job, size_t plane);
};

/* --- rows --------------------------------------------------------------------------------------- */

/* Along the last axis, where the pixel of place p is at p * stride + tap - pad. */
static struct row along(const struct psd_columns_spec *s, size_t tap)
{
    size_t i = s->axes - 1, end = s->size[i] + s->pad[i];
    size_t from = tap < s->pad[i] ? (s->pad[i] - tap + s->stride[i] - 1) / s->stride[i] : 0;
    size_t to = tap < end ? (end - tap - 1) / s->stride[i] + 1 : 0;

    to = to < s->out[i] ? to : s->out[i];
    if (from >= to)
        return (struct row){0};
    return (struct row){from, to, from * s->stride[i] + tap - s->pad[i], s->stride[i]};
}

/* Row number r of tap t; one outside of the image has no places. */
static struct row find_row(const struct psd_columns_spec *s, size_t t, size_t r)
{
    size_t last, step;

    if (!s->axes)
        return (struct row){0, 1, 0, 1};
    last = s->axes - 1;
    struct row row = along(s, t % s->kernel[last] * s->dilation[last]);
    t /= s->kernel[last];
    step = s->size[last];
    for (size_t i = last; i-- > 0;) {
        size_t q = r % s->out[i] * s->stride[i] + t % s->kernel[i] * s->dilation[i];
        if (q < s->pad[i] || q - s->pad[i] >= s->size[i])
            return (struct row){0};
        row.pixel += (q - s->pad[i]) * step;
        step *= s->size[i];
        r /= s->out[i];
        t /= s->kernel[i];
    }
    return row;
}

static void gather_row(struct row row, size_t places, const float *x, float *to)
{
    memset(to, 0, row.from * sizeof *to);
    memset(to + row.to, 0, (places - row.to) * sizeof *to);
    if (row.step == 1) {
        memcpy(to + row.from, x + row.pixel, (row.to - row.from) * sizeof *to);
        return;
    }
    for (size_t p = row.from; p < row.to; p++)
        to[p] = x[row.pixel + (p - row.from) * row.step];
}

static void gather_plane(const struct job *job, size_t plane)
{
    const float *x = job->from + plane * job->pixels;
    float *to = job->to + plane * job->taps * job->rows * job->row;

    for (size_t i = 0; i < job->taps * job->rows; i++, to += job->row)
        gather_row(find_row(job->s, i / job->rows, i % job->rows), job->row, x, to);
}

static void scatter_plane(const struct job *job, size_t plane)
{
    const float *from = job->from + plane * job->taps * job->rows * job->row;
    float *dx = job->to + plane * job->pixels;

    if (!job->adds)
        memset(dx, 0, job->pixels * sizeof *dx);
    for (size_t i = 0; i < job->taps * job->rows; i++, from += job->row) {
        struct row row = find_row(job->s, i / job->rows, i % job->rows);
        float *to = dx + row.pixel;
        for (size_t p = row.from; p < row.to; p++, to += row.step)
            *to += from[p];
    }
}

/* --- planes ------------------------------------------------------------------------------------- */

static psd_status run_task(void *arg, size_t task)
{
    const struct job *job = arg;

    for (size_t i = task * job->planes / job->tasks; i < (task + 1) * job->planes / job->tasks; i++)
        job->run(job, i);
    return PSD_OK;
}

/* A few tasks for each thread, unless waking one takes longer than the work. */
static psd_status run(struct psd_ops *ops, const struct psd_columns_spec *s, size_t batch,
                      struct job *job)
{
    enum { EACH = 4, TOO_SMALL = 1 << 15 };
    size_t most = EACH * (size_t)psd_ops_threads(ops), places = psd_compose_count(s, s->out);

    job->s = s;
    job->pixels = psd_compose_count(s, s->size);
    job->taps = psd_compose_count(s, s->kernel);
    job->row = s->axes ? s->out[s->axes - 1] : 1;
    job->rows = places / job->row;
    job->planes = batch * s->channels;
    job->tasks = job->planes * job->taps * places < TOO_SMALL ? 1 : most;
    job->tasks = job->tasks < job->planes ? job->tasks : job->planes;
    return psd_pool_each(psd_ops_pool(ops), job->tasks, run_task, job);
}

psd_status psd_compose_columns_gather(struct psd_ops *ops, const struct psd_columns_spec *spec,
                                      size_t batch, const float *x, float *columns)
{
    struct job job = {.from = x, .run = gather_plane};

    job.to = columns;
    return run(ops, spec, batch, &job);
}

psd_status psd_compose_columns_scatter(struct psd_ops *ops, const struct psd_columns_spec *spec,
                                       size_t batch, const float *columns, bool adds, float *dx)
{
    struct job job = {.from = columns, .adds = adds, .run = scatter_plane};

    job.to = dx;
    return run(ops, spec, batch, &job);
}

/* --- the operation ------------------------------------------------------------------------------ */

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_columns_spec *s = &op->spec.columns;

    return psd_compose_columns_gather(op->ops, s, s->batch, psd_tensor_host(values->in[0]),
                                      psd_tensor_host(values->out[0]));
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_columns_spec *s = &op->spec.columns;
    float *dx = psd_tensor_host(values->in_diff[0]);

    if (!dx)
        return PSD_OK;
    return psd_compose_columns_scatter(op->ops, s, s->batch, psd_tensor_host(values->out_diff[0]),
                                       values->adds & 1, dx);
}

const struct psd_op_code psd_compose_columns = {.forward = forward, .backward = backward};
