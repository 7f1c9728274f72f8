/* batch_reindex.c - BatchReindex: samples in another order, some several times, some not at all.
 *
 *     bottom 0 [samples][row], bottom 1 [count] of places   -->   top [count][row]
 *
 * The gradient of a sample is the sum over the places that have it, from first to last. */
#include "engine/layer.h"
#include "math/sum.h"

#include <string.h>

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_shape shape = layer->bottom[0]->shape;
    char text[300];

    if (!shape.axes)
        return psd_layer_fail(layer, NULL, 0, "reads samples, but not %s",
                              psd_layer_bottom_text(layer, 0, text, sizeof text));
    PSD_TRY(psd_layer_check_axes(layer, 1, 1));
    shape.dim[0] = layer->bottom[1]->shape.dim[0];
    return psd_layer_shape_top(layer, 0, &shape);
}

static size_t row_of(const struct psd_layer *layer)
{
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    return psd_shape_count(shape, 1, shape->axes);
}

static psd_status forward(struct psd_layer *layer)
{
    const float *from = psd_blob_values(layer->bottom[0]);
    const float *places = psd_blob_values(layer->bottom[1]);
    float *to = psd_blob_values(layer->top[0]);
    size_t row = row_of(layer), samples = layer->bottom[0]->shape.dim[0], place = 0;

    for (size_t i = 0; i < layer->bottom[1]->count; i++) {
        PSD_TRY(psd_layer_index(layer, "sample", places[i], samples, &place));
        memcpy(to + i * row, from + place * row, row * sizeof *to);
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const float *from = psd_blob_gradient(layer->top[0]);
    const float *places = psd_blob_values(layer->bottom[1]);
    float *to = psd_blob_gradient(layer->bottom[0]);
    size_t row = row_of(layer);

    if (!layer->propagates[0])
        return PSD_OK;
    memset(to, 0, layer->bottom[0]->count * sizeof *to);
    for (size_t i = 0; i < layer->bottom[1]->count; i++)
        psd_sum_add(to + (size_t)places[i] * row, from + i * row, row);
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_batch_reindex = {
    .type = "BatchReindex",
    .about = "the rows of the first bottom that the second names",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 1,
    .takes_empty = true,
    .unlearned = 1 << 1,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
