/* convert_writer.c - an image becomes a Datum, a Datum becomes bytes. */
#include "data/convert_writer.h"
#include "base/alloc.h"
#include "proto/caffe.pb-c.h"

#include <inttypes.h>
#include <stdio.h>

/* The numbers in a Datum, their tags and the length of the pixels: at most so many bytes. */
enum { AROUND_PIXELS = 64, LONGEST_KEY = 24 };

static size_t image_size(const struct psd_convert_writer *writer)
{
    return writer->shape.channels * writer->shape.height * writer->shape.width;
}

psd_status psd_convert_writer_open(const char *path, struct psd_sample_shape shape, int digits,
                                   struct psd_convert_writer *out)
{
    struct psd_convert_writer writer = {.shape = shape, .digits = digits};

    writer.room = psd_alloc(image_size(&writer) + AROUND_PIXELS);
    if (!writer.room)
        return PSD_ENOMEM;
    psd_status status = psd_lmdb_writer_open(path, &writer.db);
    if (status == PSD_OK)
        *out = writer;
    else
        psd_alloc_free(writer.room);
    return status;
}

psd_status psd_convert_writer_put(struct psd_convert_writer *writer, const uint8_t *pixels,
                                  int label)
{
    Caffe__Datum datum = CAFFE__DATUM__INIT;
    char key[LONGEST_KEY];

    datum.has_channels = datum.has_height = datum.has_width = datum.has_data = datum.has_label = 1;
    datum.channels = (int32_t)writer->shape.channels;
    datum.height = (int32_t)writer->shape.height;
    datum.width = (int32_t)writer->shape.width;
    datum.data = (ProtobufCBinaryData){image_size(writer), (uint8_t *)(uintptr_t)pixels};
    datum.label = label;
    size_t size = caffe__datum__pack(&datum, writer->room);
    int length = snprintf(key, sizeof key, "%0*" PRIu64, writer->digits, writer->count++);
    return psd_lmdb_writer_put(writer->db, key, (size_t)length, writer->room, size);
}

psd_status psd_convert_writer_complete(struct psd_convert_writer *writer)
{
    return psd_lmdb_writer_complete(writer->db);
}

psd_status psd_convert_writer_close(struct psd_convert_writer *writer, psd_status status)
{
    if (status == PSD_OK)
        status = psd_lmdb_writer_commit(writer->db);
    else
        psd_lmdb_writer_abandon(writer->db);
    psd_alloc_free(writer->room);
    return status;
}
