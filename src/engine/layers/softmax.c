/* softmax.c - Softmax: along one axis, positive values that sum to 1. */
#include "engine/layer.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__SoftmaxParameter *p = layer->param->softmax_param;
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    size_t axis;

    PSD_TRY(psd_layer_axis(layer, p ? &p->base : NULL, 2, 0, p ? p->axis : 1, &axis));
    struct psd_op_spec spec = {PSD_OP_SOFTMAX,
                               .softmax = {psd_shape_count(shape, 0, axis), shape->dim[axis],
                                           psd_shape_count(shape, axis + 1, shape->axes)}};
    PSD_TRY(psd_layer_shape_top(layer, 0, shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_softmax = {
    .type = "Softmax",
    .about = "exp x by the sum of them along an axis",
    .reads = "softmax_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .keeps_tops = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
