/* lrn.c - LRN: each value is divided by how loud its neighbours are, in the channels beside it or
 * in the pixels around it. */
#include "engine/layer.h"

static const Caffe__LRNParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__LRNParameter none = CAFFE__LRNPARAMETER__INIT;
    return layer->param->lrn_param ? layer->param->lrn_param : &none;
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__LRNParameter *p = param_of(layer);
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    bool within = p->norm_region == CAFFE__LRNPARAMETER__NORM_REGION__WITHIN_CHANNEL;
    struct psd_op_spec spec = {PSD_OP_LRN,
                               .lrn = {shape->dim[0], shape->dim[1], shape->dim[2], shape->dim[3],
                                       p->local_size, p->alpha, p->beta, p->k, within}};

    if (p->local_size % 2 == 0)
        return psd_layer_fail(layer, &p->base, 1, "local_size is %u; it is an odd number",
                              p->local_size);
    PSD_TRY(psd_layer_check_axes(layer, 0, 4));
    PSD_TRY(psd_layer_shape_top(layer, 0, shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_lrn = {
    .type = "LRN",
    .about = "x by a power of the squares around it, across or within channels",
    .reads = "lrn_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
