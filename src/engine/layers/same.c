#include "engine/layers/same.h"

#include <string.h>

psd_status psd_same_reshape(struct psd_layer *layer, const struct psd_shape *shape)
{
    psd_blob_share_data(layer->top[0], layer->bottom[0]);
    return psd_layer_shape_top(layer, 0, shape);
}

psd_status psd_same_forward(struct psd_layer *layer)
{
    (void)layer;
    return PSD_OK;
}

psd_status psd_same_backward(struct psd_layer *layer)
{
    if (layer->propagates[0])
        memcpy(psd_blob_gradient(layer->bottom[0]), psd_blob_gradient(layer->top[0]),
               layer->top[0]->count * sizeof(float));
    return PSD_OK;
}
