/* reduction.c - Reduction: from `axis` on, all values of a sample become one: their sum, the sum of
 * their magnitudes or squares, or their mean, times coeff. */
#include "engine/layer.h"

static enum psd_reduce_method method_of(const Caffe__ReductionParameter *p)
{
    switch (p ? p->operation : CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__SUM) {
    case CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__ASUM:
        return PSD_REDUCE_ASUM;
    case CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__SUMSQ:
        return PSD_REDUCE_SUMSQ;
    case CAFFE__REDUCTION_PARAMETER__REDUCTION_OP__MEAN:
        return PSD_REDUCE_MEAN;
    default:
        return PSD_REDUCE_SUM;
    }
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__ReductionParameter *p = layer->param->reduction_param;
    struct psd_shape shape = layer->bottom[0]->shape;
    size_t axis = 0;

    if (p)
        PSD_TRY(psd_layer_axis(layer, &p->base, 2, 0, p->axis, &axis));
    struct psd_op_spec spec = {
        PSD_OP_REDUCE, .reduce = {method_of(p), psd_shape_count(&shape, 0, axis),
                                  psd_shape_count(&shape, axis, shape.axes), p ? p->coeff : 1}};
    shape.axes = axis;
    PSD_TRY(psd_layer_shape_top(layer, 0, &shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_reduction = {
    .type = "Reduction",
    .about = "sum, mean, sum of absolute values or of squares over the last axes",
    .reads = "reduction_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
