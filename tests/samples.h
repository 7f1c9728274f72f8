/* samples.h - small databases for tests of what reads them.
 *
 * Record i of N < 256 is a Datum of 1 x 2 x 3 bytes, all of them i, with label i and the key
 * 0000000i; `spoil` may make something else of it. */
#ifndef PSD_TESTS_SAMPLES_H
#define PSD_TESTS_SAMPLES_H

#include "data/lmdb_writer.h"
#include "proto/caffe.pb-c.h"
#include "scratch.h"

enum { SAMPLE_CHANNELS = 1, SAMPLE_HEIGHT = 2, SAMPLE_WIDTH = 3, SAMPLE_SIZE = 6 };

static inline void samples_put(struct psd_lmdb_writer *writer, unsigned i,
                               void (*spoil)(unsigned i, Caffe__Datum *datum))
{
    Caffe__Datum datum = CAFFE__DATUM__INIT;
    uint8_t pixels[SAMPLE_SIZE], bytes[200];
    char key[16];

    memset(pixels, (int)i, sizeof pixels);
    datum.has_channels = datum.has_height = datum.has_width = 1;
    datum.has_data = datum.has_label = datum.has_encoded = 1;
    datum.channels = SAMPLE_CHANNELS;
    datum.height = SAMPLE_HEIGHT;
    datum.width = SAMPLE_WIDTH;
    datum.label = (int32_t)i;
    datum.data = (ProtobufCBinaryData){sizeof pixels, pixels};
    if (spoil)
        spoil(i, &datum);
    snprintf(key, sizeof key, "%08u", i);
    CHECK_OK(psd_lmdb_writer_put(writer, key, 8, bytes, caffe__datum__pack(&datum, bytes)));
}

static inline const char *samples_write(const char *name, unsigned count,
                                        void (*spoil)(unsigned i, Caffe__Datum *datum))
{
    struct psd_lmdb_writer *writer = NULL;

    CHECK_OK(psd_lmdb_writer_open(scratch(name), &writer));
    for (unsigned i = 0; i < count; i++)
        samples_put(writer, i, spoil);
    CHECK_OK(psd_lmdb_writer_commit(writer));
    return scratch(name);
}

#endif
