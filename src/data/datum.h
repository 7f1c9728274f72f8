/* datum.h - Caffe's sample, seen in place.
 *
 *     a serialized Datum     08 01  10 1c  18 1c  22 90 06 ........  28 07
 *                            |      |      |      |        |         |
 *                            channels      width  data     784 bytes label
 *                                   height                 ^
 *     struct psd_datum       .channels 1 ... .data --------'
 *
 * A batch of 64 images is 64 of these, so nothing is copied or allocated: the view points into the
 * bytes it was made from. Any thread. */
#ifndef PSD_DATA_DATUM_H
#define PSD_DATA_DATUM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd_datum {
    int32_t channels, height, width; /* 0 when absent; never trusted before psd_datum_check */
    int32_t label;
    bool encoded;        /* data is an image file, with a size of its own */
    const uint8_t *data; /* borrowed; a byte for each value, or the image file */
    size_t data_size;
    size_t float_count;   /* values that no byte can hold; used when data is empty */
    const uint8_t *bytes; /* borrowed; the whole message, where float values are found again */
    size_t size;
};

/* Looks at `size` serialized bytes, which are borrowed for as long as the view is used. Unknown
 * fields are skipped; of a field that stands there twice the last counts. PSD_ECONFIG: the bytes
 * are no Datum; the sentence starts with "its Datum" and wants a name before it. */
psd_status psd_datum_parse(const void *bytes, size_t size, struct psd_datum *out);

/* Whether a datum that is not encoded has as many values as its shape says, and at least one.
 * PSD_ECONFIG: it has not. */
psd_status psd_datum_check(const struct psd_datum *datum);

/* Writes the float_count float values to `out`. */
void psd_datum_floats(const struct psd_datum *datum, float *out);

#endif
