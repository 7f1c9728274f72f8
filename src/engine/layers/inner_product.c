/* inner_product.c - InnerProduct: every output sees every input.
 *
 *     bottom [.. samples ..][.. inputs ..]          the axes from `axis` on are one vector
 *     weights [outputs][inputs], or with transpose [inputs][outputs];  bias [outputs]
 *
 * The gradient of the weights is a product of two thin matrices, one row a sample: top diff and
 * bottom. Whoever wants to send these instead of the large matrix gets them here. */
#include "engine/layer.h"
#include "engine/net.h"

struct state {
    size_t rows, inputs;
};

static const Caffe__InnerProductParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__InnerProductParameter none = CAFFE__INNER_PRODUCT_PARAMETER__INIT;
    return layer->param->inner_product_param ? layer->param->inner_product_param : &none;
}

static psd_status find_axis(const struct psd_layer *layer, size_t *axis)
{
    const Caffe__InnerProductParameter *p = param_of(layer);
    return psd_layer_axis(layer, &p->base, 5, 0, p->axis, axis);
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__InnerProductParameter *p = param_of(layer);
    const struct psd_shape *bottom = &layer->bottom[0]->shape;
    size_t axis, outputs = p->num_output;

    if (!outputs)
        return psd_layer_fail(layer, &p->base, 1, "has no num_output; 1 is the least");
    PSD_TRY(find_axis(layer, &axis));
    size_t inputs = psd_shape_count(bottom, axis, bottom->axes);
    ((struct state *)layer->state)->inputs = inputs;
    struct psd_shape weights = p->transpose ? psd_shape_of(2, inputs, outputs, 0, 0)
                                            : psd_shape_of(2, outputs, inputs, 0, 0);
    struct psd_shape bias = psd_shape_of(1, outputs, 0, 0, 0);
    PSD_TRY(psd_layer_add_param(layer, &weights, p->weight_filler));
    return p->bias_term ? psd_layer_add_param(layer, &bias, p->bias_filler) : PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__InnerProductParameter *p = param_of(layer);
    struct psd_shape shape = layer->bottom[0]->shape;
    struct state *state = layer->state;
    size_t axis;
    char text[300];

    PSD_TRY(find_axis(layer, &axis));
    if (psd_shape_count(&shape, axis, shape.axes) != state->inputs)
        return psd_layer_fail(layer, NULL, 0, "has weights for %zu inputs, but reads %s",
                              state->inputs, psd_layer_bottom_text(layer, 0, text, sizeof text));
    state->rows = psd_shape_count(&shape, 0, axis);
    struct psd_op_spec spec = {
        PSD_OP_FC, .fc = {state->rows, state->inputs, p->num_output, p->bias_term, p->transpose}};
    shape.axes = axis + 1;
    shape.dim[axis] = p->num_output;
    PSD_TRY(psd_layer_shape_top(layer, 0, &shape));
    return psd_layer_plan(layer, 0, &spec);
}

static bool wants_factors(const struct psd_layer *layer)
{
    const struct psd_net_hooks *hooks = &layer->net->hooks;
    const struct psd_param *param = layer->params[0];

    return param->learns && param->uses == 1 && hooks->wants_factors &&
           hooks->wants_factors(hooks->context, param);
}

/* Of u [batch][rows] and v [batch][cols], u belongs to the rows of the weights as they are kept. */
static psd_status hand_factors(struct psd_layer *layer, const struct psd_op_values *values)
{
    const Caffe__InnerProductParameter *p = param_of(layer);
    const struct psd_net_hooks *hooks = &layer->net->hooks;
    struct psd_tensor diff = values->out_diff[0], bottom = values->in[0];

    return hooks->factors_ready(hooks->context, layer->params[0], p->transpose ? bottom : diff,
                                p->transpose ? diff : bottom,
                                ((const struct state *)layer->state)->rows);
}

/* Factors go out when the weights have been used: whoever takes them may change the weights at once. */
static psd_status backward(struct psd_layer *layer)
{
    struct psd_op_values values = psd_layer_values(layer, 0);
    bool factored = wants_factors(layer);

    if (factored)
        values.in_diff[1] = (struct psd_tensor){0};
    layer->params[0]->factored = factored;
    PSD_TRY(psd_op_backward(layer->ops[0], &values));
    return factored ? hand_factors(layer, &values) : PSD_OK;
}

static double macs(const struct psd_layer *layer)
{
    const struct state *state = layer->state;
    return (double)state->rows * (double)layer->params[0]->blob.count;
}

const struct psd_layer_kind psd_layer_inner_product = {
    .type = "InnerProduct",
    .about = "x by a learned matrix, plus a bias",
    .reads = "inner_product_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = backward,
    .macs = macs,
    .gives_factors = true,
};
