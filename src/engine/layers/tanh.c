/* tanh.c - TanH: the hyperbolic tangent of each value. */
#include "engine/layer.h"

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_op_spec spec = {PSD_OP_TANH, .tanh = {layer->bottom[0]->count}};

    PSD_TRY(psd_layer_shape_top(layer, 0, &layer->bottom[0]->shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_tanh = {
    .type = "TanH",
    .about = "the hyperbolic tangent of x",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .keeps_signs = true,
    .keeps_tops = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
