/* map.h - what layers share that change each value for itself: one operation, whose method and numbers
 * are all that they differ in. They may be in place of their bottom by name; since their gradient
 * asks for the bottom's values, they then have a blob of their own. */
#ifndef PSD_ENGINE_LAYERS_MAP_H
#define PSD_ENGINE_LAYERS_MAP_H

#include "engine/layer.h"

/* For reshape: the top gets the bottom's shape. `map` without its count. */
static inline psd_status psd_map_reshape(struct psd_layer *layer, struct psd_map_spec map)
{
    struct psd_op_spec spec = {PSD_OP_MAP, .map = map};

    spec.map.count = layer->bottom[0]->count;
    PSD_TRY(psd_layer_shape_top(layer, 0, &layer->bottom[0]->shape));
    return psd_layer_plan(layer, 0, &spec);
}

#endif
