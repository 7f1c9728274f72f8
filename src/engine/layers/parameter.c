/* parameter.c - Parameter: a top that is learned, of the shape that parameter_param gives.
 *
 *     forward     the top's values are the parameter's
 *     backward    the top's gradient is added to the parameter's
 *
 * It starts with 0, or with what a weights file has. */
#include "engine/layer.h"
#include "math/sum.h"

#include <string.h>

/* Without a shape it is a single number. */
static psd_status find_shape(const struct psd_layer *layer, struct psd_shape *out)
{
    const Caffe__ParameterParameter *p = layer->param->parameter_param;

    return p && p->shape ? psd_layer_read_shape(layer, p->shape, out) : PSD_OK;
}

static psd_status setup(struct psd_layer *layer)
{
    struct psd_shape shape = {0};

    PSD_TRY(find_shape(layer, &shape));
    return psd_layer_add_param(layer, &shape, NULL);
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_shape shape = {0};

    PSD_TRY(find_shape(layer, &shape));
    return psd_layer_shape_top(layer, 0, &shape);
}

static psd_status forward(struct psd_layer *layer)
{
    memcpy(psd_blob_values(layer->top[0]), psd_blob_values(&layer->params[0]->blob),
           layer->top[0]->count * sizeof(float));
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    float *to = psd_layer_param_gradient(layer, 0);

    if (to)
        psd_sum_add(to, psd_blob_gradient(layer->top[0]), layer->top[0]->count);
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_parameter = {
    .type = "Parameter",
    .about = "a learned blob",
    .reads = "parameter_param",
    .tops = 1,
    .most_tops = 1,
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
