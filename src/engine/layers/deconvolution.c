/* deconvolution.c - Deconvolution: each value of an image puts its filter, times itself, into a
 * larger one.
 *
 *     bottom [samples][channels][height][width]      weights [channels][outputs / group][kh][kw]
 *     top    [samples][outputs][out h][out w]        bias    [outputs]
 *
 *     out h = stride * (height - 1) + dilation * (kh - 1) + 1 - 2 * pad
 *
 * Images have any number of spatial axes (filters.h). */
#include "engine/layers/filters.h"

static psd_status setup(struct psd_layer *layer)
{
    return psd_filters_setup(layer, true);
}

const struct psd_layer_kind psd_layer_deconvolution = {
    .type = "Deconvolution",
    .about = "the transpose of a convolution: each value spreads over a window",
    .reads = "convolution_param",
    .bottoms = 1,
    .most_bottoms = PSD_LAYER_ANY,
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .as_many_tops = true,
    .state_size = sizeof(struct psd_filters),
    .setup = setup,
    .reshape = psd_filters_reshape,
    .forward = psd_layer_op_forward,
    .backward = psd_layer_op_backward,
    .macs = psd_filters_macs,
};
