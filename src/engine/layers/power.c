/* power.c - Power: (shift + scale * x) ^ power. */
#include "engine/layers/map.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__PowerParameter *p = layer->param->power_param;
    struct psd_map_spec map = {.method = PSD_MAP_POWER, .a = 1, .b = 1};

    if (p) {
        map.a = p->power;
        map.b = p->scale;
        map.c = p->shift;
    }
    return psd_map_reshape(layer, map);
}

const struct psd_layer_kind psd_layer_power = {
    .type = "Power",
    .about = "(scale x + shift) to a power",
    .reads = "power_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
