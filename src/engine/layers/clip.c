/* clip.c - Clip: values below min become min, those above max become max. */
#include "engine/layers/map.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__ClipParameter *p = layer->param->clip_param;

    if (!p)
        return psd_layer_fail(layer, NULL, 0, "has no clip_param, which says min and max");
    if (!(p->min <= p->max))
        return psd_layer_fail(layer, &p->base, 1, "min is %g, which is above max, %g",
                              (double)p->min, (double)p->max);
    return psd_map_reshape(layer,
                           (struct psd_map_spec){.method = PSD_MAP_CLIP, .a = p->min, .b = p->max});
}

const struct psd_layer_kind psd_layer_clip = {
    .type = "Clip",
    .about = "x, but at least min and at most max",
    .reads = "clip_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
