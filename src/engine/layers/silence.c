/* silence.c - Silence: reads blobs so that they are no outputs, and does nothing with them. */
#include "engine/layer.h"

#include <string.h>

static psd_status nothing(struct psd_layer *layer)
{
    (void)layer;
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_bottom; i++) {
        if (layer->propagates[i])
            memset(psd_blob_gradient(layer->bottom[i]), 0, layer->bottom[i]->count * sizeof(float));
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_silence = {
    .type = "Silence",
    .about = "nothing: its bottoms are read by nobody else",
    .bottoms = 1,
    .most_bottoms = PSD_LAYER_ANY,
    .tops = 0,
    .most_tops = 0,
    .reshape = nothing,
    .forward = nothing,
    .backward = backward,
};
