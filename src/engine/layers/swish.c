/* swish.c - Swish: x / (1 + exp(-beta * x)). */
#include "engine/layers/map.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__SwishParameter *p = layer->param->swish_param;
    struct psd_map_spec map = {.method = PSD_MAP_SWISH, .a = p ? p->beta : 1};

    return psd_map_reshape(layer, map);
}

const struct psd_layer_kind psd_layer_swish = {
    .type = "Swish",
    .about = "x by the sigmoid of beta x",
    .reads = "swish_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
