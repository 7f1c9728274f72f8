/* bias.c - Bias: the second bottom, or else parameter 0, is added to each channel.
 *
 * It spans the axes that layers/span.h finds. */
#include "engine/layers/span.h"

static const Caffe__BiasParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__BiasParameter none = CAFFE__BIAS_PARAMETER__INIT;
    return layer->param->bias_param ? layer->param->bias_param : &none;
}

static struct psd_span_param span_of(const struct psd_layer *layer)
{
    const Caffe__BiasParameter *p = param_of(layer);
    return (struct psd_span_param){&p->base, p->axis, p->num_axes};
}

static psd_status setup(struct psd_layer *layer)
{
    struct psd_span_param where = span_of(layer);
    struct psd_span span;

    PSD_TRY(psd_span_find(layer, &where, &span));
    return layer->n_bottom == 1 ? psd_layer_add_param(layer, &span.shape, param_of(layer)->filler)
                                : PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_span_param where = span_of(layer);
    struct psd_span span;

    PSD_TRY(psd_span_check(layer, &where, 0, &span));
    struct psd_op_spec spec = {PSD_OP_BIAS, .bias = {span.outer, span.channels, span.inner}};
    PSD_TRY(psd_layer_shape_top(layer, 0, &layer->bottom[0]->shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_bias = {
    .type = "Bias",
    .about = "x plus a bias along some axes, learned or a second bottom",
    .reads = "bias_param",
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
