/* prelu.c - PReLU: a ReLU that learns its slope below 0, one for each channel or one for all. */
#include "engine/layer.h"

static bool is_shared(const struct psd_layer *layer)
{
    return layer->param->prelu_param && layer->param->prelu_param->channel_shared;
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__PReLUParameter *p = layer->param->prelu_param;
    const struct psd_shape *bottom = &layer->bottom[0]->shape;
    Caffe__FillerParameter quarter = CAFFE__FILLER_PARAMETER__INIT;
    char text[300];

    quarter.value = 0.25f;
    if (bottom->axes < 2)
        return psd_layer_fail(layer, NULL, 0, "reads samples with channels, but not %s",
                              psd_layer_bottom_text(layer, 0, text, sizeof text));
    struct psd_shape slopes = psd_shape_of(is_shared(layer) ? 0 : 1, bottom->dim[1], 0, 0, 0);
    return psd_layer_add_param(layer, &slopes, p && p->filler ? p->filler : &quarter);
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_shape *bottom = &layer->bottom[0]->shape;
    size_t channels = bottom->dim[1];
    struct psd_op_spec spec = {PSD_OP_PRELU, .prelu = {bottom->dim[0], channels,
                                                       psd_shape_count(bottom, 2, bottom->axes)}};
    char text[300];

    if (is_shared(layer))
        spec.prelu = (struct psd_prelu_spec){1, 1, layer->bottom[0]->count};
    else if (layer->params[0]->blob.count != channels)
        return psd_layer_fail(layer, NULL, 0, "has slopes for %zu channels, but reads %s",
                              layer->params[0]->blob.count,
                              psd_layer_bottom_text(layer, 0, text, sizeof text));
    PSD_TRY(psd_layer_shape_top(layer, 0, bottom));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_prelu = {
    .type = "PReLU",
    .about = "x, or x by a learned slope below 0",
    .reads = "prelu_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .setup = setup,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
