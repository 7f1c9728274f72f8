/* datum.c - the few fields of one message, read from protobuf's wire format.
 *
 *     field    tag = number << 3 | shape        payload
 *     shape 0  varint: 7 bits a byte, low first, the high bit says that more follow
 *     shape 1  8 bytes                          shape 5  4 bytes, little-endian
 *     shape 2  length (varint), then as many bytes
 *
 *     1 channels  2 height  3 width  5 label  7 encoded      varints
 *     4 data                                                 bytes
 *     6 float_data      4 bytes each with a tag of its own, or packed: many behind one tag
 *
 * proto/wire.h reads any message, but into memory of its own; here a record is looked at where it
 * is. */
#include "data/datum.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum { CHANNELS = 1, HEIGHT, WIDTH, DATA, LABEL, FLOAT_DATA, ENCODED };
enum { LONGEST_VARINT = 10 };

struct reader {
    const uint8_t *at, *end;
};

/* One field: a number, or bytes in place. */
struct field {
    uint64_t number; /* of the field */
    unsigned shape;
    uint64_t value;
    const uint8_t *bytes;
    size_t size;
};

static bool read_varint(struct reader *reader, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < LONGEST_VARINT && reader->at < reader->end; i++) {
        uint8_t byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* The reason why there is no whole field; NULL when there is one. */
static const char *read_field(struct reader *reader, struct field *field)
{
    uint64_t tag = 0, length = 0;

    if (!read_varint(reader, &tag) || tag >> 3 == 0)
        return "has a damaged tag";
    field->number = tag >> 3;
    field->shape = tag & 7;
    if (field->shape == VARINT)
        return read_varint(reader, &field->value) ? NULL : "has a damaged number";
    if (field->shape == BYTES && !read_varint(reader, &length))
        return "has a damaged length";
    if (field->shape == FIXED64 || field->shape == FIXED32)
        length = field->shape == FIXED64 ? 8 : 4;
    else if (field->shape != BYTES)
        return "has a field of a shape that no Datum has";
    if (length > (size_t)(reader->end - reader->at))
        return "ends in the middle of a field";
    field->bytes = reader->at;
    field->size = (size_t)length;
    reader->at += length;
    return NULL;
}

static bool has_floats(const struct field *field)
{
    return field->number == FLOAT_DATA && (field->shape == FIXED32 || field->shape == BYTES);
}

static void take_number(const struct field *field, struct psd_datum *datum)
{
    int32_t value = (int32_t)(uint32_t)field->value; /* the upper half only repeats the sign */

    if (field->number == CHANNELS)
        datum->channels = value;
    else if (field->number == HEIGHT)
        datum->height = value;
    else if (field->number == WIDTH)
        datum->width = value;
    else if (field->number == LABEL)
        datum->label = value;
    else if (field->number == ENCODED)
        datum->encoded = field->value != 0;
}

static const char *take_field(const struct field *field, struct psd_datum *datum)
{
    if (has_floats(field)) {
        if (field->size % sizeof(float) != 0)
            return "has float values of odd length";
        datum->float_count += field->size / sizeof(float);
    } else if (field->number == DATA && field->shape == BYTES) {
        datum->data = field->bytes;
        datum->data_size = field->size;
    } else if (field->shape == VARINT) {
        take_number(field, datum);
    }
    return NULL;
}

psd_status psd_datum_parse(const void *bytes, size_t size, struct psd_datum *out)
{
    struct psd_datum datum = {.bytes = bytes, .size = size};
    struct reader reader = {bytes, datum.bytes + size};
    const char *reason = NULL;
    struct field field;

    while (!reason && reader.at < reader.end) {
        reason = read_field(&reader, &field);
        if (!reason)
            reason = take_field(&field, &datum);
    }
    if (reason)
        return psd_fail(PSD_ECONFIG, "its Datum %s, near byte %td", reason,
                        reader.at - datum.bytes);
    *out = datum;
    return PSD_OK;
}

psd_status psd_datum_check(const struct psd_datum *datum)
{
    size_t count = datum->data_size ? datum->data_size : datum->float_count, wanted;

    if (datum->channels <= 0 || datum->height <= 0 || datum->width <= 0)
        return psd_fail(PSD_ECONFIG, "its Datum has the shape %d x %d x %d", datum->channels,
                        datum->height, datum->width);
    if (__builtin_mul_overflow((size_t)datum->channels * (size_t)datum->height,
                               (size_t)datum->width, &wanted) ||
        wanted != count)
        return psd_fail(PSD_ECONFIG, "its Datum has %zu values for the shape %d x %d x %d", count,
                        datum->channels, datum->height, datum->width);
    return PSD_OK;
}

void psd_datum_floats(const struct psd_datum *datum, float *out)
{
    struct reader reader = {datum->bytes, datum->bytes + datum->size};
    struct field field;

    while (reader.at < reader.end && !read_field(&reader, &field)) {
        if (has_floats(&field)) {
            memcpy(out, field.bytes, field.size);
            out += field.size / sizeof *out;
        }
    }
}
