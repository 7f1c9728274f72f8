/* threshold.c - Threshold: 1 where a value is above the threshold, 0 elsewhere; no gradient. */
#include "engine/layers/map.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__ThresholdParameter *p = layer->param->threshold_param;
    struct psd_map_spec map = {.method = PSD_MAP_THRESHOLD, .a = p ? p->threshold : 0};

    return psd_map_reshape(layer, map);
}

const struct psd_layer_kind psd_layer_threshold = {
    .type = "Threshold",
    .about = "1 where x is above a threshold, else 0",
    .reads = "threshold_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .unlearned = 1,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
};
