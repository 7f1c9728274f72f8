/* image.h - a JPEG or PNG file in memory becomes bytes, as Caffe's OpenCV would decode it.
 *
 *     ff d8 ff e0 ...                       B B B B ...    planes of height x width bytes:
 *     89 P N G ...      -->  decode  -->    G G G G ...    blue, green, red, and alpha if any;
 *                                           R R R R ...    or gray alone
 *
 * Whatever is wrong with a file is a sentence: libjpeg's and libpng's own ways of ending the
 * program or writing to the terminal are closed off. A picture that breaks off in the middle or
 * has impossible bits is wrong, too; libjpeg would rather fill it up with gray. One thread at a time
 * for each image. */
#ifndef PSD_DATA_IMAGE_H
#define PSD_DATA_IMAGE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* How many channels the result has. */
enum psd_image_color {
    PSD_IMAGE_NATIVE, /* those of the file: 1, 3 or, with transparency, 4 */
    PSD_IMAGE_COLOR,  /* 3; gray becomes three equal ones */
    PSD_IMAGE_GRAY    /* 1; Y of YCbCr, or 0.299 R + 0.587 G + 0.114 B */
};

enum {
    PSD_IMAGE_SIDE = 16384,    /* pixels that a side has at most, */
    PSD_IMAGE_AREA = 64 << 20, /* and an image; a small file can claim to be any size */
    PSD_IMAGE_CHANNELS = 4
};

/* All zero before its first use; used again it allocates only for a larger image. */
struct psd_image {
    size_t channels, height, width;
    uint8_t *pixels; /* owned; [channels][height][width] */
    uint8_t *rows;   /* owned; [height][width][channels], as the libraries deliver them */
    size_t room;     /* bytes of each */
};

/* Decodes `size` bytes. PSD_ECONFIG: they are no such file, or a damaged one; the sentence starts
 * with "its image" and wants a name before it. The image is then without meaning. */
psd_status psd_image_decode(const void *bytes, size_t size, enum psd_image_color color,
                            struct psd_image *image);
void psd_image_fini(struct psd_image *image);

#endif
