/* memory_data.h - samples that a program has in memory, for a MemoryData layer.
 *
 *     psd_memory_data_set(psd_net_layer(net, "data"), images, labels, 60000);
 *     psd_net_forward(net, &loss);              the first batch; the next forward takes the next
 */
#ifndef PSD_ENGINE_LAYERS_MEMORY_DATA_H
#define PSD_ENGINE_LAYERS_MEMORY_DATA_H

#include "engine/layer.h"

/* Gives the layer `n` samples, a whole number of batches: data [n][channels][height][width] and
 * labels [n], both borrowed until the next call or the end of the net. After the last batch comes
 * the first. PSD_EINVAL: it is no such layer, or n does not fit. */
psd_status psd_memory_data_set(struct psd_layer *layer, const float *data, const float *labels,
                               size_t n);

#endif
