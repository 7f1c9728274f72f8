/* im2col.c - Im2col: what a window sees of an image, as channels of their own.
 *
 *     bottom [samples][channels][height][width]
 *     top    [samples][channels * kh * kw][out h][out w]        a channel for each tap of the window
 *
 * Images have any number of spatial axes. */
#include "engine/layers/window.h"

struct state {
    size_t axis;                    /* of the channels */
    struct psd_columns_spec window; /* all but what the bottom says */
};

static const Caffe__ConvolutionParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__ConvolutionParameter none = CAFFE__CONVOLUTION_PARAMETER__INIT;
    return layer->param->convolution_param ? layer->param->convolution_param : &none;
}

static psd_status setup(struct psd_layer *layer)
{
    const Caffe__ConvolutionParameter *p = param_of(layer);
    struct state *state = layer->state;

    PSD_TRY(psd_layer_axis(layer, &p->base, 16, 0, p->axis, &state->axis));
    return psd_window_read_all(layer, &p->base, layer->bottom[0]->shape.axes - state->axis - 1,
                               &state->window);
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_op_spec spec = {PSD_OP_COLUMNS, .columns = state->window};
    struct psd_shape shape = layer->bottom[0]->shape;
    size_t axes = state->axis + 1 + state->window.axes;

    PSD_TRY(psd_layer_check_axes(layer, 0, axes));
    PSD_TRY(psd_window_slide(layer, 0, state->axis, &spec.columns));
    PSD_TRY(psd_layer_plan(layer, 0, &spec));
    for (size_t i = 0; i < spec.columns.axes; i++) {
        shape.dim[state->axis] *= spec.columns.kernel[i];
        shape.dim[state->axis + 1 + i] = spec.columns.out[i];
    }
    return psd_layer_shape_top(layer, 0, &shape);
}

const struct psd_layer_kind psd_layer_im2col = {
    .type = "Im2col",
    .about = "the windows of a convolution as columns",
    .reads = "convolution_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
};
