/* log.c - Log: the logarithm of shift + scale * x to a base; base -1 is e. */
#include "engine/layers/map.h"

#include <math.h>

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__LogParameter *p = layer->param->log_param;
    struct psd_map_spec map = {.method = PSD_MAP_LOG, .a = 1, .b = 1};

    if (p && p->base_ != -1 && (!(p->base_ > 0) || p->base_ == 1))
        return psd_layer_fail(layer, &p->base, 1,
                              "base is %g; it is above 0 and not 1, or -1 for e", (double)p->base_);
    if (p) {
        map.a = p->base_ == -1 ? 1 : 1 / logf(p->base_);
        map.b = p->scale;
        map.c = p->shift;
    }
    return psd_map_reshape(layer, map);
}

const struct psd_layer_kind psd_layer_log = {
    .type = "Log",
    .about = "the logarithm of (scale x + shift) to a base",
    .reads = "log_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
