/* convolution.c - Convolution: filters that slide over images.
 *
 *     bottom [samples][channels][height][width]      weights [outputs][channels / group][kh][kw]
 *     top    [samples][outputs][out h][out w]        bias    [outputs]
 *
 * Images have any number of spatial axes (filters.h). */
#include "engine/layers/filters.h"

static psd_status setup(struct psd_layer *layer)
{
    return psd_filters_setup(layer, false);
}

const struct psd_layer_kind psd_layer_convolution = {
    .type = "Convolution",
    .about = "sums of products over a moving window, of n axes",
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
