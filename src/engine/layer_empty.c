/* layer_empty.c - a layer's pass, also where a Filter has left no samples.
 *
 *     bottom [0][3][8]     a layer that may not divide by 0 samples is asked for shapes as if there
 *     as if  [1][3][8]     were one, then two: the axis of a top that grows is that of the samples,
 *     as if  [2][3][8]     and has none; a top that stays as it is belongs to the batch, and is 0
 *
 * Nothing is computed for such a layer: losses, gradients and what it adds to parameters are 0. */
#include "base/alloc.h"
#include "engine/layer.h"

#include <string.h>

static bool reads_nothing(const struct psd_layer *layer)
{
    return layer->n_bottom && !layer->bottom[0]->count && !layer->kind->takes_empty;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* The shapes of bottoms before, and of tops with one sample. */
struct shapes {
    struct psd_shape *bottoms, *tops; /* owned */
};

/* Bottoms that are empty look as if they had so many samples; their memory is left alone. */
static void pretend(struct psd_layer *layer, const struct shapes *shapes, size_t samples)
{
    for (size_t i = 0; i < layer->n_bottom; i++) {
        struct psd_shape shape = shapes->bottoms[i];
        for (size_t k = 0; k < shape.axes; k++)
            shape.dim[k] = shape.dim[k] ? shape.dim[k] : samples;
        layer->bottom[i]->shape = shape;
        layer->bottom[i]->count = psd_shape_count(&shape, 0, shape.axes);
    }
}

/* Axes that have grown from one sample to two have none. */
static psd_status empty_tops(struct psd_layer *layer, const struct shapes *shapes)
{
    for (size_t i = 0; i < layer->n_top; i++) {
        struct psd_shape shape = layer->top[i]->shape;
        for (size_t k = 0; k < shape.axes; k++) {
            if (shape.dim[k] != shapes->tops[i].dim[k])
                shape.dim[k] = 0;
        }
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    }
    return PSD_OK;
}

static psd_status try_samples(struct psd_layer *layer, const struct shapes *shapes)
{
    pretend(layer, shapes, 1);
    PSD_TRY(layer->kind->reshape(layer));
    for (size_t i = 0; i < layer->n_top; i++)
        shapes->tops[i] = layer->top[i]->shape;
    pretend(layer, shapes, 2);
    PSD_TRY(layer->kind->reshape(layer));
    return empty_tops(layer, shapes);
}

static psd_status reshape_empty(struct psd_layer *layer)
{
    struct shapes shapes = {psd_alloc_zero(layer->n_bottom, sizeof *shapes.bottoms),
                            psd_alloc_zero(layer->n_top, sizeof *shapes.tops)};
    psd_status status = shapes.bottoms && shapes.tops ? PSD_OK : PSD_ENOMEM;

    for (size_t i = 0; status == PSD_OK && i < layer->n_bottom; i++)
        shapes.bottoms[i] = layer->bottom[i]->shape;
    if (status == PSD_OK) {
        status = try_samples(layer, &shapes);
        pretend(layer, &shapes, 0);
    }
    psd_alloc_free(shapes.bottoms);
    psd_alloc_free(shapes.tops);
    return status;
}

psd_status psd_layer_run_reshape(struct psd_layer *layer)
{
    return psd_layer_blame(layer, reads_nothing(layer) ? reshape_empty(layer)
                                                       : layer->kind->reshape(layer));
}

/* --- passes ----------------------------------------------------------------------------------- */

psd_status psd_layer_run_forward(struct psd_layer *layer)
{
    if (!reads_nothing(layer))
        return layer->kind->forward(layer);
    for (size_t i = 0; i < layer->n_top; i++)
        memset(psd_blob_values(layer->top[i]), 0, layer->top[i]->count * sizeof(float));
    return PSD_OK;
}

psd_status psd_layer_run_backward(struct psd_layer *layer)
{
    if (!reads_nothing(layer))
        return layer->kind->backward(layer);
    for (size_t i = 0; i < layer->n_bottom; i++) {
        if (layer->propagates[i])
            memset(psd_blob_gradient(layer->bottom[i]), 0, layer->bottom[i]->count * sizeof(float));
    }
    for (size_t i = 0; i < layer->n_params; i++)
        psd_layer_param_gradient(layer, i);
    return PSD_OK;
}
