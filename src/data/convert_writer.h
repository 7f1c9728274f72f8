/* convert_writer.h - a database of images of one shape, numbered from 0. */
#ifndef PSD_DATA_CONVERT_WRITER_H
#define PSD_DATA_CONVERT_WRITER_H

#include "data/lmdb_writer.h"
#include "data/sample.h"

struct psd_convert_writer {
    struct psd_lmdb_writer *db; /* owned */
    struct psd_sample_shape shape;
    int digits;     /* of a key, at least */
    uint64_t count; /* of records so far */
    uint8_t *room;  /* owned; of a serialized record */
};

/* Makes the database `path`. PSD_ECONFIG: it exists, or cannot be made. */
psd_status psd_convert_writer_open(const char *path, struct psd_sample_shape shape, int digits,
                                   struct psd_convert_writer *out);

/* Adds an image of the shape's size, as a Datum whose key is its number. */
psd_status psd_convert_writer_put(struct psd_convert_writer *writer, const uint8_t *pixels,
                                  int label);

/* After the last image: all that can fail for want of space is done then. */
psd_status psd_convert_writer_complete(struct psd_convert_writer *writer);

/* Completes the database and gives it its name when `status` is PSD_OK, else removes it; returns
 * how that ended, or `status`. */
psd_status psd_convert_writer_close(struct psd_convert_writer *writer, psd_status status);

#endif
