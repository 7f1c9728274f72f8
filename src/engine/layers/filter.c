/* filter.c - Filter: of each bottom but the last, the samples for which the last is not 0.
 *
 *     bottom 0 [5][..]   1 [5][..]   selector 1 0 0 1 1   -->   top 0 [3][..]   top 1 [3][..]
 *
 * How many samples there are is known only in a pass: the layers after it then take new shapes. With
 * none selected the tops are empty. Samples that are left out have the gradient 0. */
#include "engine/layer.h"
#include "engine/net.h"

#include <string.h>

/* The selector has one value a sample. */
static psd_status check_selector(const struct psd_layer *layer)
{
    const struct psd_blob *selector = layer->bottom[layer->n_bottom - 1];
    char text[300];

    if (selector->shape.axes && selector->count == selector->shape.dim[0])
        return PSD_OK;
    return psd_layer_fail(layer, NULL, 0, "selects by one value a sample, but not by %s",
                          psd_layer_bottom_text(layer, layer->n_bottom - 1, text, sizeof text));
}

static psd_status check_samples(const struct psd_layer *layer, size_t i)
{
    const struct psd_shape *shape = &layer->bottom[i]->shape;
    char bottom[300], selector[300];

    if (shape->axes && shape->dim[0] == layer->bottom[layer->n_bottom - 1]->count)
        return PSD_OK;
    return psd_layer_fail(
        layer, NULL, 0, "needs a value to select by for each sample of %s, but reads %s",
        psd_layer_bottom_text(layer, i, bottom, sizeof bottom),
        psd_layer_bottom_text(layer, layer->n_bottom - 1, selector, sizeof selector));
}

static psd_status setup(struct psd_layer *layer)
{
    if (layer->n_top == layer->n_bottom - 1)
        return PSD_OK;
    return psd_layer_fail(layer, NULL, 0,
                          "has %zu tops for %zu bottoms and the selector; give a top for each",
                          layer->n_top, layer->n_bottom - 1);
}

/* Until a pass tells otherwise, all are selected. */
static psd_status reshape(struct psd_layer *layer)
{
    PSD_TRY(check_selector(layer));
    for (size_t i = 0; i < layer->n_top; i++) {
        PSD_TRY(check_samples(layer, i));
        PSD_TRY(psd_layer_shape_top(layer, i, &layer->bottom[i]->shape));
    }
    return PSD_OK;
}

static bool is_selected(const struct psd_layer *layer, size_t sample)
{
    return psd_blob_values(layer->bottom[layer->n_bottom - 1])[sample] != 0;
}

static size_t samples_of(const struct psd_layer *layer)
{
    return layer->bottom[layer->n_bottom - 1]->count;
}

static psd_status shape_tops(struct psd_layer *layer, size_t selected)
{
    for (size_t i = 0; i < layer->n_top; i++) {
        struct psd_shape shape = layer->bottom[i]->shape;
        shape.dim[0] = selected;
        layer->net->reshaped |= layer->top[i]->shape.dim[0] != selected;
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    }
    return PSD_OK;
}

static size_t row_of(const struct psd_blob *blob)
{
    return psd_shape_count(&blob->shape, 1, blob->shape.axes);
}

static psd_status forward(struct psd_layer *layer)
{
    size_t samples = samples_of(layer), selected = 0;

    for (size_t n = 0; n < samples; n++)
        selected += is_selected(layer, n);
    PSD_TRY(shape_tops(layer, selected));
    for (size_t i = 0; i < layer->n_top; i++) {
        const float *from = psd_blob_values(layer->bottom[i]);
        float *to = psd_blob_values(layer->top[i]);
        size_t row = row_of(layer->bottom[i]);
        for (size_t n = 0; n < samples; n++, from += row) {
            if (!is_selected(layer, n))
                continue;
            memcpy(to, from, row * sizeof *to);
            to += row;
        }
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    size_t samples = samples_of(layer);

    for (size_t i = 0; i < layer->n_top; i++) {
        const float *from = psd_blob_gradient(layer->top[i]);
        float *to = psd_blob_gradient(layer->bottom[i]);
        size_t row = row_of(layer->bottom[i]);
        if (!layer->propagates[i])
            continue;
        memset(to, 0, layer->bottom[i]->count * sizeof *to);
        for (size_t n = 0; n < samples; n++) {
            if (!is_selected(layer, n))
                continue;
            memcpy(to + n * row, from, row * sizeof *to);
            from += row;
        }
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_filter = {
    .type = "Filter",
    .about = "the samples of the bottoms that the last bottom selects",
    .bottoms = 2,
    .most_bottoms = PSD_LAYER_ANY,
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .varies = true,
    .last_unlearned = true,
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
