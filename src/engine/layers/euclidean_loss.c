/* euclidean_loss.c - EuclideanLoss: the sum of squared differences, halved, for each sample. Both bottoms
 * get a gradient. */
#include "engine/layer.h"

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_shape *a = &layer->bottom[0]->shape, *b = &layer->bottom[1]->shape;
    const struct psd_shape scalar = {0};
    size_t batch = a->axes ? a->dim[0] : 1, row = layer->bottom[0]->count / batch;
    struct psd_op_spec spec = {PSD_OP_DISTANCE_LOSS, .distance_loss = {batch, row}};
    char first[300], second[300];

    if ((b->axes ? b->dim[0] : 1) != batch || layer->bottom[1]->count != batch * row)
        return psd_layer_fail(layer, NULL, 0,
                              "samples have the same values, but it reads %s and %s",
                              psd_layer_bottom_text(layer, 0, first, sizeof first),
                              psd_layer_bottom_text(layer, 1, second, sizeof second));
    PSD_TRY(psd_layer_shape_top(layer, 0, &scalar));
    return psd_layer_plan(layer, 0, &spec);
}

const struct psd_layer_kind psd_layer_euclidean_loss = {
    .type = "EuclideanLoss",
    .about = "half the mean square of the distance between two bottoms",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 1,
    .makes_tops = true,
    .is_loss = true,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
