/* layers.c - every kind of layer there is. */
#include "engine/layer.h"

#include <string.h>

const struct psd_layer_kind *const psd_layers[] = {
    &psd_layer_accuracy,          &psd_layer_convolution,   &psd_layer_data,  &psd_layer_dropout,
    &psd_layer_dummy_data,        &psd_layer_inner_product, &psd_layer_input, &psd_layer_lrn,
    &psd_layer_memory_data,       &psd_layer_pooling,       &psd_layer_relu,  &psd_layer_softmax,
    &psd_layer_softmax_with_loss, &psd_layer_split,         &psd_layer_tanh,  NULL,
};

const struct psd_layer_kind *psd_layers_find(const char *type)
{
    for (size_t i = 0; psd_layers[i]; i++) {
        if (strcmp(psd_layers[i]->type, type) == 0)
            return psd_layers[i];
    }
    return NULL;
}
