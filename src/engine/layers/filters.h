/* filters.h - what Convolution and Deconvolution have in common: filters that slide over images.
 *
 *     Convolution      bottom --- windows ---> top           weights [outputs][channels / group][..]
 *     Deconvolution    bottom <--- windows --- top           weights [channels][outputs / group][..]
 *
 * A Deconvolution's filters slide over its top, and what they see there is the bottom: it is the
 * way back of the convolution with the same parameters. Axes before that of the channels are
 * samples, those after it are space, of any number. Each bottom has its top; all use the same
 * weights. */
#ifndef PSD_ENGINE_LAYERS_FILTERS_H
#define PSD_ENGINE_LAYERS_FILTERS_H

#include "engine/layer.h"

struct psd_filters {
    bool back;                    /* it is a Deconvolution */
    size_t axis;                  /* of the channels */
    struct psd_conv_nd_spec spec; /* of the convolution, all but what the bottoms say */
};

/* layer->state is a psd_filters. Reads the parameters and adds weights and bias. */
psd_status psd_filters_setup(struct psd_layer *layer, bool back);

psd_status psd_filters_reshape(struct psd_layer *layer);

double psd_filters_macs(const struct psd_layer *layer);

#endif
