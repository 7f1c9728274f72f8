/* deconv.c - a deconvolution is a convolution the other way round.
 *
 *     deconvolution          the convolution inside           and a bias
 *     forward    y           the gradient of its input, x     + b, in place
 *     backward   dx          its result, of dy
 *                dw          its dw, of dy and x
 *                db                                           its db
 *
 * A convolution's backward may need what its forward has kept, so dw comes after dx; where nobody
 * wants dx, or it is to be added, the result goes to a place of its own. */
#include "base/alloc.h"
#include "math/sum.h"
#include "ops/compose/compose.h"

struct plan {
    struct psd_op *conv;           /* owned */
    struct psd_op *bias;           /* owned; NULL: there is none */
    struct psd_device_memory *own; /* owned; a result that is not dx, taken with its first use */
};

static psd_status init(struct psd_op *op, struct plan *plan)
{
    struct psd_conv_nd_spec inside = op->spec.deconv;
    const struct psd_columns_spec *w = &op->spec.deconv.window;
    struct psd_op_spec bias = {PSD_OP_BIAS,
                               .bias = {w->batch, w->channels, psd_compose_count(w, w->size)}};

    inside.bias = false;
    struct psd_op_spec conv = psd_op_conv(&inside);
    PSD_TRY(psd_op_create(op->ops, &conv, &plan->conv));
    return op->spec.deconv.bias ? psd_op_create(op->ops, &bias, &plan->bias) : PSD_OK;
}

static void destroy(struct plan *plan)
{
    psd_op_destroy(plan->conv);
    psd_op_destroy(plan->bias);
    psd_device_free(plan->own);
    psd_alloc_free(plan);
}

/* --- computing ---------------------------------------------------------------------------------- */

/* The convolution's input is what we compute, so there is none; for the gradient to it, none is read.
 * That is why its code is called and not psd_op_backward, which would miss it. */
static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct plan *plan = op->plan;
    struct psd_tensor x = values->in[0], y = values->out[0];
    struct psd_op_values back = {
        .in = {y, values->in[1]}, .out = {x}, .out_diff = {x}, .in_diff = {y}};
    struct psd_op_values bias = {.in = {y, values->in[2]}, .out = {y}};

    PSD_TRY(plan->conv->code->backward(plan->conv, &back));
    return plan->bias ? psd_op_forward(plan->bias, &bias) : PSD_OK;
}

/* Where the result goes: to dx, or to a place of its own. */
static psd_status find_result(struct psd_op *op, const struct psd_op_values *values,
                              struct psd_tensor *out)
{
    struct plan *plan = op->plan;
    size_t count = psd_op_input_count(&op->spec, 0);

    *out = values->in_diff[0];
    if (out->memory && !(values->adds & 1))
        return PSD_OK;
    if (!plan->own)
        PSD_TRY(psd_device_alloc(psd_ops_device(op->ops), count * sizeof(float), &plan->own));
    *out = (struct psd_tensor){plan->own, 0};
    return PSD_OK;
}

/* dx and dw. */
static psd_status backward_conv(struct psd_op *op, const struct psd_op_values *values)
{
    const struct plan *plan = op->plan;
    struct psd_op_values there = {.in = {values->out_diff[0], values->in[1]},
                                  .out_diff = {values->in[0]},
                                  .in_diff = {[1] = values->in_diff[1]},
                                  .adds = values->adds & 2};
    float *dx = psd_tensor_host(values->in_diff[0]);

    PSD_TRY(find_result(op, values, &there.out[0]));
    PSD_TRY(psd_op_forward(plan->conv, &there));
    if (dx && values->adds & 1)
        psd_sum_add(dx, psd_tensor_host(there.out[0]), psd_op_input_count(&op->spec, 0));
    return values->in_diff[1].memory ? psd_op_backward(plan->conv, &there) : PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct plan *plan = op->plan;
    struct psd_op_values bias = {.in = {values->out[0], values->in[2]},
                                 .out = {values->out[0]},
                                 .out_diff = {values->out_diff[0]},
                                 .in_diff = {[1] = values->in_diff[2]},
                                 .adds = values->adds >> 1 & 2};

    if (values->in_diff[0].memory || values->in_diff[1].memory)
        PSD_TRY(backward_conv(op, values));
    return values->in_diff[2].memory ? psd_op_backward(plan->bias, &bias) : PSD_OK;
}

static void drop(struct psd_op *op)
{
    destroy(op->plan);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward, .drop = drop};

psd_status psd_compose_plan_deconv(struct psd_op *op)
{
    struct plan *plan = psd_alloc_zero(1, sizeof *plan);

    if (!plan)
        return PSD_ENOMEM;
    psd_status status = init(op, plan);
    if (status != PSD_OK) {
        destroy(plan);
        return status;
    }
    op->code = &code;
    op->plan = plan;
    return PSD_OK;
}
