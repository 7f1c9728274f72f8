/* elu.c - ELU: x where it is positive, alpha * (exp(x) - 1) elsewhere. */
#include "engine/layers/map.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__ELUParameter *p = layer->param->elu_param;
    struct psd_map_spec map = {.method = PSD_MAP_ELU, .a = p ? p->alpha : 1};

    return psd_map_reshape(layer, map);
}

const struct psd_layer_kind psd_layer_elu = {
    .type = "ELU",
    .about = "x, or alpha (exp x - 1) below 0",
    .reads = "elu_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
