/* conv.c - convolution with stride 1: its plan, forward, and its gradients shared out to tasks. */
#include "ops/simd/conv.h"
#include "base/alloc.h"

#include <string.h>

/* --- plan ------------------------------------------------------------------------------------*/

/* Forward, as the spec says; to x, channels and outputs change places. */
static void describe(const struct psd_conv_spec *c, struct psd_simd_conv *conv)
{
    struct psd_simd_sweep *f = &conv->forward, *b = &conv->backward;

    *conv = (struct psd_simd_conv){
        .batch = c->batch,
        .groups = c->group,
        .image = c->channels * c->height * c->width,
        .result = c->outputs * c->out_height * c->out_width,
    };
    *f = (struct psd_simd_sweep){
        .channels = c->channels / c->group,
        .height = c->height,
        .width = c->width,
        .outputs = c->outputs / c->group,
        .out_height = c->out_height,
        .out_width = c->out_width,
    };
    *b = (struct psd_simd_sweep){
        .channels = f->outputs,
        .height = f->out_height,
        .width = f->out_width,
        .outputs = f->channels,
        .out_height = f->height,
        .out_width = f->width,
    };
    for (int i = 0; i < 2; i++) {
        f->kernel[i] = b->kernel[i] = c->kernel[i];
        f->dilation[i] = b->dilation[i] = c->dilation[i];
        f->pad[i] = c->pad[i];
        b->pad[i] = (c->kernel[i] - 1) * c->dilation[i] - c->pad[i];
    }
}

/* Stride 1, and no more padding than a window reaches. */
static bool can_do(const struct psd_conv_spec *c)
{
    for (int i = 0; i < 2; i++) {
        if (c->stride[i] != 1 || c->pad[i] > (c->kernel[i] - 1) * c->dilation[i])
            return false;
    }
    return true;
}

/* Dot products read whole vectors, so a little beyond an image whose rows do not end with one. */
static psd_status allocate(struct psd_op *op, struct psd_simd_conv *conv)
{
    const struct psd_simd_sweep *f = &conv->forward, *b = &conv->backward;
    enum { BEYOND = 8 };

    conv->tasks = psd_simd_tasks(op, conv->batch,
                                 2.0 * (double)(conv->batch * conv->result) * (double)f->steps);
    conv->padded_image = conv->groups * f->channels * f->plane;
    conv->wide_image = conv->groups * b->channels * b->plane;
    if (psd_simd_sweep_pads(f) || f->out_width % BEYOND) {
        conv->padded = psd_simd_zero_floats(conv->batch * conv->padded_image + BEYOND);
        if (!conv->padded)
            return PSD_ENOMEM;
    }
    if (!conv->spreads && psd_simd_sweep_pads(b)) {
        conv->wide = psd_simd_zero_floats(conv->tasks * conv->wide_image);
        if (!conv->wide)
            return PSD_ENOMEM;
    }
    return PSD_OK;
}

static void destroy(struct psd_simd_conv *conv)
{
    psd_simd_sweep_fini(&conv->forward);
    psd_simd_sweep_fini(&conv->backward);
    psd_simd_spread_fini(&conv->spread);
    psd_simd_conv_weights_fini(&conv->weights);
    psd_alloc_free(conv->padded);
    psd_alloc_free(conv->wide);
    psd_alloc_free(conv);
}

static psd_status init(struct psd_op *op, struct psd_simd_conv *conv)
{
    describe(&op->spec.conv, conv);
    PSD_TRY(psd_simd_sweep_init(&conv->forward, conv->groups));
    conv->spreads = psd_simd_spread_suits(&conv->forward);
    if (conv->spreads)
        PSD_TRY(psd_simd_spread_init(&conv->spread, &conv->forward, conv->groups));
    else
        PSD_TRY(psd_simd_sweep_init(&conv->backward, conv->groups));
    PSD_TRY(allocate(op, conv));
    return psd_simd_conv_weights_init(op, conv);
}

/* --- forward ---------------------------------------------------------------------------------*/

/* A call, as its tasks see it. */
struct call {
    struct psd_simd_conv *conv;
    const float *x, *b, *dy;
    float *y;
    struct psd_simd_diff dx, dw, db;
    size_t weight_tasks; /* 0: nobody wants dw or db */
};

static void forward_image(const struct call *call, size_t n)
{
    struct psd_simd_conv *conv = call->conv;
    const struct psd_simd_sweep *s = &conv->forward;
    const float *x = call->x + n * conv->image;
    float *y = call->y + n * conv->result;

    if (conv->padded) {
        float *padded = conv->padded + n * conv->padded_image;
        psd_simd_sweep_pad(s, conv->groups * s->channels, x, padded);
        x = padded;
    }
    for (size_t g = 0; g < conv->groups; g++) {
        size_t output = g * s->outputs;
        psd_simd_sweep_run(s, g, x + g * s->channels * s->plane, call->b ? call->b + output : NULL,
                           false, y + output * s->out_height * s->out_width);
    }
}

static psd_status forward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    size_t batch = call->conv->batch, tasks = call->conv->tasks;

    for (size_t n = psd_simd_piece(batch, tasks, task); n < psd_simd_piece(batch, tasks, task + 1);
         n++)
        forward_image(call, n);
    return PSD_OK;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    struct psd_simd_conv *conv = op->plan;
    struct call call = {
        .conv = conv,
        .x = psd_tensor_host(values->in[0]),
        .b = psd_tensor_host(values->in[2]),
        .y = psd_tensor_host(values->out[0]),
    };

    psd_simd_sweep_pack(&conv->forward, conv->groups, psd_tensor_host(values->in[1]));
    return psd_pool_each(psd_ops_pool(op->ops), conv->tasks, forward_task, &call);
}

/* --- backward --------------------------------------------------------------------------------*/

static void spread_image(const struct call *call, size_t n)
{
    const struct psd_simd_conv *conv = call->conv;
    const struct psd_simd_sweep *s = &conv->forward;
    const float *dy = call->dy + n * conv->result;
    float *dx = call->dx.to + n * conv->image;

    if (!call->dx.adds)
        memset(dx, 0, conv->image * sizeof *dx);
    for (size_t g = 0; g < conv->groups; g++) {
        psd_simd_spread_run(&conv->spread, g, dy, dx);
        dy += s->outputs * s->out_height * s->out_width;
        dx += s->channels * s->plane;
    }
}

static void sweep_image(const struct call *call, size_t task, size_t n)
{
    const struct psd_simd_conv *conv = call->conv;
    const struct psd_simd_sweep *s = &conv->backward;
    const float *dy = call->dy + n * conv->result;
    float *dx = call->dx.to + n * conv->image;

    if (conv->wide) {
        float *wide = conv->wide + task * conv->wide_image;
        psd_simd_sweep_pad(s, conv->groups * s->channels, dy, wide);
        dy = wide;
    }
    for (size_t g = 0; g < conv->groups; g++) {
        psd_simd_sweep_run(s, g, dy, NULL, call->dx.adds, dx);
        dy += s->channels * s->plane;
        dx += s->outputs * s->out_height * s->out_width;
    }
}

static void inputs_task(const struct call *call, size_t task)
{
    const struct psd_simd_conv *conv = call->conv;
    size_t end = psd_simd_piece(conv->batch, conv->tasks, task + 1);

    for (size_t n = psd_simd_piece(conv->batch, conv->tasks, task); n < end; n++) {
        if (conv->spreads)
            spread_image(call, n);
        else
            sweep_image(call, task, n);
    }
}

static void pack_for_inputs(struct psd_simd_conv *conv, const float *w)
{
    if (conv->spreads)
        psd_simd_spread_pack(&conv->spread, conv->groups, w);
    else
        psd_simd_sweep_pack_turned(&conv->backward, conv->groups, w);
}

/* Those for dw and db come first: they are the larger ones. */
static psd_status backward_task(void *arg, size_t task)
{
    const struct call *call = arg;

    if (task < call->weight_tasks)
        psd_simd_conv_weights_run(call->conv, task, call->x, call->dy, call->dw, call->db);
    else
        inputs_task(call, task - call->weight_tasks);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    struct psd_simd_conv *conv = op->plan;
    struct call call = {
        .conv = conv,
        .x = conv->padded ? conv->padded : psd_tensor_host(values->in[0]),
        .dy = psd_tensor_host(values->out_diff[0]),
        .dx = psd_simd_diff(values, 0),
        .dw = psd_simd_diff(values, 1),
        .db = psd_simd_diff(values, 2),
    };

    if (call.dw.to || call.db.to)
        call.weight_tasks = conv->weights.tasks;
    if (call.dx.to)
        pack_for_inputs(conv, psd_tensor_host(values->in[1]));
    return psd_pool_each(psd_ops_pool(op->ops), call.weight_tasks + (call.dx.to ? conv->tasks : 0),
                         backward_task, &call);
}

static void drop(struct psd_op *op)
{
    destroy(op->plan);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward, .drop = drop};

psd_status psd_simd_plan_conv(struct psd_op *op)
{
    if (!can_do(&op->spec.conv))
        return PSD_ENOSUP;
    struct psd_simd_conv *conv = psd_alloc_zero(1, sizeof *conv);
    if (!conv)
        return PSD_ENOMEM;
    psd_status status = init(op, conv);
    if (status != PSD_OK) {
        destroy(conv);
        return status;
    }
    op->code = &code;
    op->plan = conv;
    return PSD_OK;
}
