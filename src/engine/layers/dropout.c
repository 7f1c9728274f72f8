/* dropout.c - Dropout: when it trains, each value is 0 with the chance dropout_ratio and scaled up
 * otherwise; when it tests, nothing happens to it.
 *
 * Nothing in place is no work at all; else it is a ReLU whose negative side has the slope 1. */
#include "engine/layer.h"

static struct psd_op_spec spec_of(const struct psd_layer *layer, float ratio)
{
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    size_t count = layer->bottom[0]->count, row = psd_shape_count(shape, 1, shape->axes);

    if (!psd_layer_trains(layer))
        return (struct psd_op_spec){PSD_OP_RELU, .relu = {count, 1}};
    return (struct psd_op_spec){PSD_OP_DROPOUT, .dropout = {count, row, ratio}};
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__DropoutParameter *p = layer->param->dropout_param;
    float ratio = p ? p->dropout_ratio : 0.5f;
    struct psd_op_spec spec = spec_of(layer, ratio);

    if (!(ratio >= 0 && ratio < 1))
        return psd_layer_fail(layer, &p->base, 1,
                              "dropout_ratio is %g; it is at least 0 and less than 1",
                              (double)ratio);
    if (!psd_layer_trains(layer) && layer->top[0] == layer->bottom[0])
        return PSD_OK;
    PSD_TRY(psd_layer_shape_top(layer, 0, &layer->bottom[0]->shape));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_dropout = {
    .type = "Dropout",
    .about = "x with some values left out at random, in training",
    .reads = "dropout_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .keeps_signs = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
