/* input.c - Input: blobs whose values somebody puts there before each forward.
 *
 * Their shape is the prototxt's until that somebody gives them another with psd_blob_reshape. */
#include "engine/layer.h"

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__InputParameter *p = layer->param->input_param;
    size_t shapes = p ? p->n_shape : 0;

    if (shapes != 1 && shapes != layer->n_top)
        return psd_layer_fail(layer, p ? &p->base : NULL, 0,
                              "has %zu shapes for %zu tops; give one for all, or one for each",
                              shapes, layer->n_top);
    for (size_t i = 0; i < layer->n_top; i++) {
        struct psd_shape shape = {0};
        PSD_TRY(psd_layer_read_shape(layer, p->shape[shapes == 1 ? 0 : i], &shape));
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    }
    return PSD_OK;
}

/* The shape is the caller's business after setup, and so are the values. */
static psd_status nothing(struct psd_layer *layer)
{
    (void)layer;
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_input = {
    .type = "Input",
    .about = "what the program sets",
    .reads = "input_param",
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .setup = setup,
    .reshape = nothing,
    .forward = nothing,
};
