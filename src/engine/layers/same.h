/* same.h - what layers share that give the same values another shape: nothing is computed.
 *
 *     forward     the top looks at the bottom's values
 *     backward    the top's gradient is copied to the bottom's */
#ifndef PSD_ENGINE_LAYERS_SAME_H
#define PSD_ENGINE_LAYERS_SAME_H

#include "engine/layer.h"

/* For reshape: the top has `shape`, of as many values as the bottom. */
psd_status psd_same_reshape(struct psd_layer *layer, const struct psd_shape *shape);

psd_status psd_same_forward(struct psd_layer *layer);
psd_status psd_same_backward(struct psd_layer *layer);

#endif
