/* absval.c - AbsVal: |x|; its slope at 0 is 0. */
#include "engine/layers/map.h"

static psd_status reshape(struct psd_layer *layer)
{
    return psd_map_reshape(layer, (struct psd_map_spec){.method = PSD_MAP_ABS});
}

const struct psd_layer_kind psd_layer_absval = {
    .type = "AbsVal",
    .about = "|x|",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
