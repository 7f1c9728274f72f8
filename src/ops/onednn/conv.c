/* conv.c - convolution by oneDNN, a slice of the batch for each thread.
 *
 *     images   0 1 2 3 | 4 5 6 7       a slice has primitives of its own
 *     thread       a   |    b
 *     dw       sum a   +  sum b        added in the order of the slices: the same bits every time
 *
 * How a batch is sliced follows from its size and the number of threads. */
#include "base/alloc.h"
#include "math/sum.h"
#include "ops/onednn/onednn.h"
#include "ops/onednn/step.h"

#include <string.h>

/* What oneDNN calls the shapes of a convolution; our layouts are all plain. */
struct geometry {
    dnnl_memory_desc_t x, w, b, y;             /* our layouts */
    dnnl_memory_desc_t any_x, any_w, any_y;    /* the same shapes, layout of its choice */
    dnnl_dims_t stride, dilation, left, right; /* right: padding at the other end */
};

struct slice {
    size_t first, count; /* images */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct psd_onednn_step forward, data, weights;
    float *dw, *db; /* owned; this slice's share of the gradients */
    float *dx;      /* owned; where dx is computed that is to be added; taken with its first use */
};

struct plan {
    size_t n_slices;
    struct slice *slices; /* owned */
};

/* What the slices of one call share. */
struct call {
    struct psd_op *op;
    const struct psd_op_values *values;
};

static size_t weight_count(const struct psd_conv_spec *s)
{
    return s->outputs * (s->channels / s->group) * s->kernel[0] * s->kernel[1];
}

/* --- planning ---------------------------------------------------------------------------------- */

static psd_status describe(dnnl_memory_desc_t *plain, dnnl_memory_desc_t *any, int axes,
                           const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(plain, axes, dims, dnnl_f32, tag);

    if (status == dnnl_success && any)
        status = dnnl_memory_desc_init_by_tag(any, axes, dims, dnnl_f32, dnnl_format_tag_any);
    return psd_onednn_status(status);
}

static psd_status describe_weights(const struct psd_conv_spec *s, struct geometry *g)
{
    dnnl_dim_t group = (dnnl_dim_t)s->group, kh = (dnnl_dim_t)s->kernel[0],
               kw = (dnnl_dim_t)s->kernel[1];
    dnnl_dim_t outputs = (dnnl_dim_t)s->outputs / group, inputs = (dnnl_dim_t)s->channels / group;
    dnnl_dims_t grouped = {group, outputs, inputs, kh, kw}, single = {outputs, inputs, kh, kw};

    return group > 1 ? describe(&g->w, &g->any_w, 5, grouped, dnnl_goihw)
                     : describe(&g->w, &g->any_w, 4, single, dnnl_oihw);
}

static psd_status describe_all(const struct psd_conv_spec *s, size_t batch, struct geometry *g)
{
    dnnl_dim_t n = (dnnl_dim_t)batch, outputs = (dnnl_dim_t)s->outputs;
    dnnl_dims_t b = {outputs};
    dnnl_dims_t x = {n, (dnnl_dim_t)s->channels, (dnnl_dim_t)s->height, (dnnl_dim_t)s->width};
    dnnl_dims_t y = {n, outputs, (dnnl_dim_t)s->out_height, (dnnl_dim_t)s->out_width};
    size_t in[2] = {s->height, s->width}, out[2] = {s->out_height, s->out_width};

    for (int i = 0; i < 2; i++) {
        size_t reach = s->dilation[i] * (s->kernel[i] - 1) + 1;
        g->stride[i] = (dnnl_dim_t)s->stride[i];
        g->dilation[i] = (dnnl_dim_t)s->dilation[i] - 1;
        g->left[i] = (dnnl_dim_t)s->pad[i];
        g->right[i] = (dnnl_dim_t)((out[i] - 1) * s->stride[i] + reach) - (dnnl_dim_t)in[i] -
                      (dnnl_dim_t)s->pad[i];
    }
    PSD_TRY(describe(&g->x, &g->any_x, 4, x, dnnl_nchw));
    PSD_TRY(describe(&g->y, &g->any_y, 4, y, dnnl_nchw));
    PSD_TRY(describe(&g->b, NULL, 1, b, dnnl_x));
    return describe_weights(s, g);
}

static psd_status plan_forward(struct slice *slice, const struct geometry *g, bool bias)
{
    struct psd_onednn_step *step = &slice->forward;
    dnnl_convolution_desc_t operation;

    PSD_TRY(psd_onednn_status(dnnl_dilated_convolution_forward_desc_init(
        &operation, dnnl_forward_training, dnnl_convolution_auto, &g->any_x, &g->any_w,
        bias ? &g->b : NULL, &g->any_y, g->stride, g->dilation, g->left, g->right)));
    PSD_TRY(psd_onednn_step_open(step, slice->engine, &operation, NULL));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_SRC, false, &g->x));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_WEIGHTS, false, &g->w));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_DST, true, &g->y));
    return bias ? psd_onednn_step_port(step, DNNL_ARG_BIAS, false, &g->b) : PSD_OK;
}

static psd_status plan_data(struct slice *slice, const struct geometry *g,
                            const_dnnl_primitive_desc_t hint)
{
    struct psd_onednn_step *step = &slice->data;
    dnnl_convolution_desc_t operation;

    PSD_TRY(psd_onednn_status(dnnl_dilated_convolution_backward_data_desc_init(
        &operation, dnnl_convolution_auto, &g->any_x, &g->any_w, &g->any_y, g->stride, g->dilation,
        g->left, g->right)));
    PSD_TRY(psd_onednn_step_open(step, slice->engine, &operation, hint));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_DIFF_DST, false, &g->y));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_WEIGHTS, false, &g->w));
    return psd_onednn_step_port(step, DNNL_ARG_DIFF_SRC, true, &g->x);
}

static psd_status plan_weights(struct slice *slice, const struct geometry *g, bool bias,
                               const_dnnl_primitive_desc_t hint)
{
    struct psd_onednn_step *step = &slice->weights;
    dnnl_convolution_desc_t operation;

    PSD_TRY(psd_onednn_status(dnnl_dilated_convolution_backward_weights_desc_init(
        &operation, dnnl_convolution_auto, &g->any_x, &g->any_w, bias ? &g->b : NULL, &g->any_y,
        g->stride, g->dilation, g->left, g->right)));
    PSD_TRY(psd_onednn_step_open(step, slice->engine, &operation, hint));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_SRC, false, &g->x));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_DIFF_DST, false, &g->y));
    PSD_TRY(psd_onednn_step_port(step, DNNL_ARG_DIFF_WEIGHTS, true, &g->w));
    return bias ? psd_onednn_step_port(step, DNNL_ARG_DIFF_BIAS, true, &g->b) : PSD_OK;
}

static psd_status plan_slice(const struct psd_conv_spec *s, struct slice *slice)
{
    const_dnnl_primitive_desc_t hint = NULL;
    struct geometry g;

    PSD_TRY(psd_onednn_status(dnnl_engine_create(&slice->engine, dnnl_cpu, 0)));
    PSD_TRY(psd_onednn_status(
        dnnl_stream_create(&slice->stream, slice->engine, dnnl_stream_default_flags)));
    PSD_TRY(describe_all(s, slice->count, &g));
    PSD_TRY(plan_forward(slice, &g, s->bias));
    PSD_TRY(psd_onednn_status(dnnl_primitive_get_primitive_desc(slice->forward.primitive, &hint)));
    PSD_TRY(plan_data(slice, &g, hint));
    PSD_TRY(plan_weights(slice, &g, s->bias, hint));
    slice->dw = psd_alloc(weight_count(s) * sizeof *slice->dw);
    slice->db = psd_alloc(s->outputs * sizeof *slice->db);
    return slice->dw && slice->db ? PSD_OK : PSD_ENOMEM;
}

static void drop(struct psd_op *op)
{
    struct plan *plan = op->plan;

    for (size_t i = 0; plan->slices && i < plan->n_slices; i++) {
        struct slice *slice = &plan->slices[i];
        psd_onednn_step_close(&slice->forward);
        psd_onednn_step_close(&slice->data);
        psd_onednn_step_close(&slice->weights);
        dnnl_stream_destroy(slice->stream);
        dnnl_engine_destroy(slice->engine);
        psd_alloc_free(slice->dw);
        psd_alloc_free(slice->db);
        psd_alloc_free(slice->dx);
    }
    psd_alloc_free(plan->slices);
    psd_alloc_free(plan);
    op->plan = NULL;
}

static psd_status plan_slices(struct plan *plan, const struct psd_conv_spec *s, size_t threads)
{
    plan->n_slices = s->batch < threads ? s->batch : threads;
    plan->slices = psd_alloc_zero(plan->n_slices, sizeof *plan->slices);
    if (!plan->slices)
        return PSD_ENOMEM;
    for (size_t i = 0; i < plan->n_slices; i++) {
        struct slice *slice = &plan->slices[i];
        slice->first = i * s->batch / plan->n_slices;
        slice->count = (i + 1) * s->batch / plan->n_slices - slice->first;
        PSD_TRY(plan_slice(s, slice));
    }
    return PSD_OK;
}

/* --- computing --------------------------------------------------------------------------------- */

static psd_status forward_slice(void *arg, size_t index)
{
    const struct call *call = arg;
    const struct psd_conv_spec *s = &call->op->spec.conv;
    struct slice *slice = &((struct plan *)call->op->plan)->slices[index];
    float *x = psd_tensor_host(call->values->in[0]), *y = psd_tensor_host(call->values->out[0]);
    void *data[] = {
        x + slice->first * s->channels * s->height * s->width,
        psd_tensor_host(call->values->in[1]),
        y + slice->first * s->outputs * s->out_height * s->out_width,
        psd_tensor_host(call->values->in[2]),
    };

    int before = psd_onednn_compute_alone();
    psd_status status = psd_onednn_step_run(&slice->forward, slice->stream, data);
    psd_onednn_compute_with(before);
    return status;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    struct call call = {op, values};
    const struct plan *plan = op->plan;

    return psd_pool_each(psd_ops_pool(op->ops), plan->n_slices, forward_slice, &call);
}

/* dx, into its place or on top of what is there. */
static psd_status backward_data(const struct call *call, struct slice *slice, float *dy, float *dx)
{
    const struct psd_conv_spec *s = &call->op->spec.conv;
    size_t count = slice->count * s->channels * s->height * s->width;
    bool adds = call->values->adds & 1;

    if (adds && !slice->dx)
        slice->dx = psd_alloc(count * sizeof *slice->dx);
    if (adds && !slice->dx)
        return PSD_ENOMEM;
    void *data[] = {dy, psd_tensor_host(call->values->in[1]), adds ? slice->dx : dx};
    PSD_TRY(psd_onednn_step_run(&slice->data, slice->stream, data));
    if (adds)
        psd_sum_add(dx, slice->dx, count);
    return PSD_OK;
}

static psd_status backward_slice(void *arg, size_t index)
{
    const struct call *call = arg;
    const struct psd_op_values *values = call->values;
    const struct psd_conv_spec *s = &call->op->spec.conv;
    struct slice *slice = &((struct plan *)call->op->plan)->slices[index];
    size_t x_at = slice->first * s->channels * s->height * s->width;
    float *x = psd_tensor_host(values->in[0]) + x_at, *dx = psd_tensor_host(values->in_diff[0]);
    float *dy = psd_tensor_host(values->out_diff[0]) +
                slice->first * s->outputs * s->out_height * s->out_width;
    void *weights[] = {x, dy, slice->dw, slice->db};
    psd_status status = PSD_OK;

    int before = psd_onednn_compute_alone();
    if (dx)
        status = backward_data(call, slice, dy, dx + x_at);
    if (status == PSD_OK && (values->in_diff[1].memory || values->in_diff[2].memory))
        status = psd_onednn_step_run(&slice->weights, slice->stream, weights);
    psd_onednn_compute_with(before);
    return status;
}

/* Adds up what the slices have computed, in their order. */
static void collect(const struct plan *plan, float *into, bool adds, size_t count, bool bias)
{
    for (size_t i = 0; into && i < plan->n_slices; i++) {
        const float *share = bias ? plan->slices[i].db : plan->slices[i].dw;
        if (i == 0 && !adds)
            memcpy(into, share, count * sizeof *into);
        else
            psd_sum_add(into, share, count);
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_conv_spec *s = &op->spec.conv;
    const struct plan *plan = op->plan;
    struct call call = {op, values};

    PSD_TRY(psd_pool_each(psd_ops_pool(op->ops), plan->n_slices, backward_slice, &call));
    collect(plan, psd_tensor_host(values->in_diff[1]), values->adds & 2, weight_count(s), false);
    collect(plan, psd_tensor_host(values->in_diff[2]), values->adds & 4, s->outputs, true);
    return PSD_OK;
}

static const struct psd_op_code code = {forward, backward, drop};

psd_status psd_onednn_plan_conv(struct psd_op *op)
{
    struct plan *plan = psd_alloc_zero(1, sizeof *plan);

    if (!plan)
        return PSD_ENOMEM;
    op->plan = plan;
    op->code = &code;
    int before = psd_onednn_compute_alone();
    psd_status status = plan_slices(plan, &op->spec.conv, psd_ops_threads(op->ops));
    psd_onednn_compute_with(before);
    if (status != PSD_OK)
        drop(op);
    return status;
}
