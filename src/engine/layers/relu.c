/* relu.c - ReLU: what is negative becomes 0, or negative_slope times itself. */
#include "engine/layer.h"

/* In place, the gradient asks the result for the sign that the input had. */
static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__ReLUParameter *p = layer->param->relu_param;
    const struct psd_blob *bottom = layer->bottom[0];
    float slope = p ? p->negative_slope : 0;
    struct psd_op_spec spec = {PSD_OP_RELU, .relu = {bottom->count, slope}};

    if (slope < 0 && layer->top[0] == bottom)
        return psd_layer_fail(layer, &p->base, 1,
                              "a negative_slope below 0 cannot be computed in place; give the top "
                              "another name");
    PSD_TRY(psd_layer_shape_top(layer, 0, &bottom->shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_relu = {
    .type = "ReLU",
    .about = "x, or x by negative_slope below 0",
    .reads = "relu_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .keeps_signs = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
