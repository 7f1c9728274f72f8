/* split.c - Split: one blob for several readers.
 *
 *     forward     all tops look at the bottom's values         nothing is computed
 *     backward    each reader has left a gradient in its top   the bottom's is their sum */
#include "engine/layer.h"
#include "math/sum.h"

#include <string.h>

static psd_status reshape(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_top; i++) {
        psd_blob_share_data(layer->top[i], layer->bottom[0]);
        PSD_TRY(psd_layer_shape_top(layer, i, &layer->bottom[0]->shape));
    }
    return PSD_OK;
}

static psd_status forward(struct psd_layer *layer)
{
    (void)layer;
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    float *sum = psd_blob_gradient(layer->bottom[0]);
    size_t count = layer->bottom[0]->count;

    if (!layer->propagates[0])
        return PSD_OK;
    memcpy(sum, psd_blob_gradient(layer->top[0]), count * sizeof *sum);
    for (size_t i = 1; i < layer->n_top; i++)
        psd_sum_add(sum, psd_blob_gradient(layer->top[i]), count);
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_split = {
    .type = "Split",
    .about = "the bottom, for several readers",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .keeps_tops = true,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
