/* scale.c - Scale: each channel is multiplied with a factor, and perhaps a bias is added.
 *
 *     top = bottom * factor + bias        the factor is the second bottom, or else parameter 0
 *
 * Factor and bias span the axes that layers/span.h finds; behind a BatchNorm that is the channels. */
#include "engine/layers/span.h"

static const Caffe__ScaleParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__ScaleParameter none = CAFFE__SCALE_PARAMETER__INIT;
    return layer->param->scale_param ? layer->param->scale_param : &none;
}

static struct psd_span_param span_of(const struct psd_layer *layer)
{
    const Caffe__ScaleParameter *p = param_of(layer);
    return (struct psd_span_param){&p->base, p->axis, p->num_axes};
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__ScaleParameter *p = param_of(layer);
    struct psd_span_param where = span_of(layer);
    Caffe__FillerParameter one = CAFFE__FILLER_PARAMETER__INIT;
    struct psd_span span;

    one.value = 1;
    PSD_TRY(psd_span_find(layer, &where, &span));
    if (layer->n_bottom == 1)
        PSD_TRY(psd_layer_add_param(layer, &span.shape, p->filler ? p->filler : &one));
    return p->bias_term ? psd_layer_add_param(layer, &span.shape, p->bias_filler) : PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_span_param where = span_of(layer);
    struct psd_span span;

    PSD_TRY(psd_span_check(layer, &where, 0, &span));
    struct psd_op_spec spec = {
        PSD_OP_SCALE, .scale = {span.outer, span.channels, span.inner, param_of(layer)->bias_term}};
    PSD_TRY(psd_layer_shape_top(layer, 0, &layer->bottom[0]->shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_scale = {
    .type = "Scale",
    .about = "x by a factor along some axes, learned or a second bottom",
    .reads = "scale_param",
    .bottoms = 1,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .setup = setup,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
