/* window.h - kernel, stride, pad and dilation of a window that slides, as prototxts give them.
 *
 *     kernel_size: 3                        for all spatial axes
 *     kernel_size: 3 kernel_size: 5         for each
 *     kernel_h: 3 kernel_w: 5               by name, of two
 *
 * ConvolutionParameter and PoolingParameter have fields of the same names, and are read alike. */
#ifndef PSD_ENGINE_LAYERS_WINDOW_H
#define PSD_ENGINE_LAYERS_WINDOW_H

#include "engine/layer.h"

enum psd_window_part { PSD_WINDOW_KERNEL, PSD_WINDOW_STRIDE, PSD_WINDOW_PAD, PSD_WINDOW_DILATION };

/* Reads a part from the layer's parameters `message` into `out`, a number for each of `spatial` axes.
 * PSD_ECONFIG: what is given makes no sense, or there is no kernel. */
psd_status psd_window_read(const struct psd_layer *layer, const ProtobufCMessage *message,
                           enum psd_window_part part, size_t spatial, size_t *out);

/* Reads all four parts, and the number of axes. */
psd_status psd_window_read_all(const struct psd_layer *layer, const ProtobufCMessage *message,
                               size_t spatial, struct psd_columns_spec *window);

/* Lets a window that is read slide over bottom `bottom`, whose channels are on `axis`: batch,
 * channels, sizes, and how many places there are. PSD_ECONFIG: it does not fit. */
psd_status psd_window_slide(const struct psd_layer *layer, size_t bottom, size_t axis,
                            struct psd_columns_spec *window);

#endif
