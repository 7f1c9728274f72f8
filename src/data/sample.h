/* sample.h - a record as values in planes, whatever form it was stored in.
 *
 *     Datum with bytes     ----------------------------.
 *     Datum with floats    --- copied in order --------+--->  struct psd_sample
 *     Datum with an image  --- decoded (image.h) ------'      [channels][height][width]
 *
 * One thread at a time for each room. */
#ifndef PSD_DATA_SAMPLE_H
#define PSD_DATA_SAMPLE_H

#include "base/status.h"
#include "data/datum.h"
#include "data/image.h"

struct psd_sample_shape {
    size_t channels, height, width;
};

/* Values before anything is done to them; either bytes or floats. */
struct psd_sample {
    struct psd_sample_shape shape;
    const uint8_t *bytes; /* borrowed; NULL: floats has the values */
    const float *floats;  /* borrowed */
};

/* Room for what does not lie in the record as it is wanted. All zero before its first use; it grows
 * to the largest sample and stays. */
struct psd_sample_room {
    struct psd_image image; /* owned */
    float *floats;          /* owned */
    size_t count;           /* of floats that fit */
};

/* Looks at what `datum` holds; *out is borrowed from the datum and the room until the next call.
 * `color` counts for images only. PSD_ECONFIG: it holds less or more than its shape says, or an
 * image that cannot be decoded; the sentence wants the record's name before it. */
psd_status psd_sample_read(const struct psd_datum *datum, enum psd_image_color color,
                           struct psd_sample_room *room, struct psd_sample *out);
void psd_sample_room_fini(struct psd_sample_room *room);

#endif
