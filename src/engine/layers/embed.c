/* embed.c - Embed: each number becomes a row that is learned.
 *
 *     bottom [..] of numbers below input_dim   -->   top [..][num_output]
 *     weights [input_dim][num_output], bias [num_output]
 *
 * The gradient of a row is the sum over the places that have its number, from first to last. */
#include "engine/layer.h"
#include "math/sum.h"

#include <string.h>

static const Caffe__EmbedParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__EmbedParameter none = CAFFE__EMBED_PARAMETER__INIT;
    return layer->param->embed_param ? layer->param->embed_param : &none;
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__EmbedParameter *p = param_of(layer);
    struct psd_shape weights = psd_shape_of(2, p->input_dim, p->num_output, 0, 0);
    struct psd_shape bias = psd_shape_of(1, p->num_output, 0, 0, 0);

    if (!p->num_output)
        return psd_layer_fail(layer, &p->base, 1, "has no num_output; 1 is the least");
    if (!p->input_dim)
        return psd_layer_fail(layer, &p->base, 2, "has no input_dim; 1 is the least");
    PSD_TRY(psd_layer_add_param(layer, &weights, p->weight_filler));
    return p->bias_term ? psd_layer_add_param(layer, &bias, p->bias_filler) : PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_shape shape = layer->bottom[0]->shape;
    char text[300];

    if (shape.axes == PSD_BLOB_AXES)
        return psd_layer_fail(layer, NULL, 0,
                              "needs an axis more than there may be, for it reads %s",
                              psd_layer_bottom_text(layer, 0, text, sizeof text));
    shape.dim[shape.axes++] = param_of(layer)->num_output;
    return psd_layer_shape_top(layer, 0, &shape);
}

static psd_status forward(struct psd_layer *layer)
{
    const Caffe__EmbedParameter *p = param_of(layer);
    const float *numbers = psd_blob_values(layer->bottom[0]);
    const float *weights = psd_blob_values(&layer->params[0]->blob);
    size_t row = p->num_output, number = 0;

    for (size_t i = 0; i < layer->bottom[0]->count; i++) {
        float *to = psd_blob_values(layer->top[0]) + i * row;
        PSD_TRY(psd_layer_index(layer, "number", numbers[i], p->input_dim, &number));
        memcpy(to, weights + number * row, row * sizeof *to);
        if (p->bias_term)
            psd_sum_add(to, psd_blob_values(&layer->params[1]->blob), row);
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const Caffe__EmbedParameter *p = param_of(layer);
    const float *numbers = psd_blob_values(layer->bottom[0]);
    const float *from = psd_blob_gradient(layer->top[0]);
    float *weights = psd_layer_param_gradient(layer, 0);
    float *bias = p->bias_term ? psd_layer_param_gradient(layer, 1) : NULL;
    size_t row = p->num_output;

    for (size_t i = 0; i < layer->bottom[0]->count; i++) {
        if (weights)
            psd_sum_add(weights + (size_t)numbers[i] * row, from + i * row, row);
        if (bias)
            psd_sum_add(bias, from + i * row, row);
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_embed = {
    .type = "Embed",
    .about = "a learned row for each index",
    .reads = "embed_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .unlearned = 1,
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
