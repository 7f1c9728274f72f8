/* span.h - which axes of its first bottom a factor or a bias spans, for Scale and Bias.
 *
 *     bottom [ outer .. | axis .. axis + axes - 1 | .. inner ]
 *                         the shape of the factor
 *
 * The second bottom has that shape, where there is one; else it is a parameter's, and its number of
 * axes is given (-1: to the last, 0: a single number for all). */
#ifndef PSD_ENGINE_LAYERS_SPAN_H
#define PSD_ENGINE_LAYERS_SPAN_H

#include "engine/layer.h"

struct psd_span {
    struct psd_shape shape; /* of the factor or bias */
    size_t outer, channels, inner;
};

/* What the prototxt says: `axis` is field 1 of `message`, `num_axes` field 2. */
struct psd_span_param {
    const ProtobufCMessage *message;
    int axis, num_axes;
};

psd_status psd_span_find(const struct psd_layer *layer, const struct psd_span_param *param,
                         struct psd_span *out);

/* Finds it again for a bottom of perhaps another shape; fails unless parameter `index` still fits. */
psd_status psd_span_check(const struct psd_layer *layer, const struct psd_span_param *param,
                          size_t index, struct psd_span *out);

#endif
