/* layers.c - every kind of layer there is. */
#include "engine/layer.h"

#include <string.h>

const struct psd_layer_kind *const psd_layers[] = {
    &psd_layer_absval,
    &psd_layer_accuracy,
    &psd_layer_arg_max,
    &psd_layer_batch_norm,
    &psd_layer_batch_reindex,
    &psd_layer_bias,
    &psd_layer_bnll,
    &psd_layer_clip,
    &psd_layer_concat,
    &psd_layer_contrastive_loss,
    &psd_layer_convolution,
    &psd_layer_crop,
    &psd_layer_data,
    &psd_layer_deconvolution,
    &psd_layer_dropout,
    &psd_layer_dummy_data,
    &psd_layer_eltwise,
    &psd_layer_elu,
    &psd_layer_embed,
    &psd_layer_euclidean_loss,
    &psd_layer_exp,
    &psd_layer_filter,
    &psd_layer_flatten,
    &psd_layer_hdf5_data,
    &psd_layer_hdf5_output,
    &psd_layer_hinge_loss,
    &psd_layer_im2col,
    &psd_layer_infogain_loss,
    &psd_layer_inner_product,
    &psd_layer_input,
    &psd_layer_log,
    &psd_layer_lrn,
    &psd_layer_lstm,
    &psd_layer_lstm_unit,
    &psd_layer_memory_data,
    &psd_layer_multinomial_logistic_loss,
    &psd_layer_mvn,
    &psd_layer_parameter,
    &psd_layer_pooling,
    &psd_layer_power,
    &psd_layer_prelu,
    &psd_layer_reduction,
    &psd_layer_relu,
    &psd_layer_reshape,
    &psd_layer_rnn,
    &psd_layer_scale,
    &psd_layer_sigmoid,
    &psd_layer_sigmoid_cross_entropy_loss,
    &psd_layer_silence,
    &psd_layer_slice,
    &psd_layer_softmax,
    &psd_layer_softmax_with_loss,
    &psd_layer_split,
    &psd_layer_spp,
    &psd_layer_swish,
    &psd_layer_tanh,
    &psd_layer_threshold,
    &psd_layer_tile,
    NULL,
};

const struct psd_layer_kind *psd_layers_find(const char *type)
{
    for (size_t i = 0; psd_layers[i]; i++) {
        if (strcmp(psd_layers[i]->type, type) == 0)
            return psd_layers[i];
    }
    return NULL;
}
