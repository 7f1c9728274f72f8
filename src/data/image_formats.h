/* image_formats.h - the image libraries behind image.h, one function each. */
#ifndef PSD_DATA_IMAGE_FORMATS_H
#define PSD_DATA_IMAGE_FORMATS_H

#include "data/image.h"

/* Decode into image->rows, in the order B, G, R, and set the shape. */
psd_status psd_image_jpeg(const uint8_t *bytes, size_t size, enum psd_image_color color,
                          struct psd_image *image);
psd_status psd_image_png(const uint8_t *bytes, size_t size, enum psd_image_color color,
                         struct psd_image *image);

/* Sets the shape and makes room for the pixels; for the two above. PSD_ECONFIG: too large. */
psd_status psd_image_resize(struct psd_image *image, size_t channels, size_t height, size_t width);

#endif
