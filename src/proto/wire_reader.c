/* wire_reader.c - the binary form, read front to back within the borders it states. */
#include "proto/field.h"
#include "proto/wire.h"

#include <stdio.h>
#include <string.h>

enum shape { VARINT = 0, EIGHT = 1, LENGTH = 2, FOUR = 5 };
enum { DEEPEST = 16 };

struct reader {
    struct psd_document *document; /* borrowed */
    struct psd_bytes *bytes;       /* borrowed */
    unsigned depth;                /* messages we are inside of */
    struct {
        const ProtobufCFieldDescriptor *field;
        size_t index;
    } path[DEEPEST];
};

/* "layer[3].blobs[0].data", for people. */
static const char *place(const struct reader *reader, const ProtobufCFieldDescriptor *field,
                         char *out, size_t room)
{
    size_t used = 0;

    out[0] = 0;
    for (unsigned i = 0; i < reader->depth && used < room; i++) {
        const ProtobufCFieldDescriptor *above = reader->path[i].field;
        used += (size_t)snprintf(out + used, room - used,
                                 above->label == PROTOBUF_C_LABEL_REPEATED ? "%s[%zu]." : "%s.",
                                 above->name, reader->path[i].index);
    }
    if (used < room)
        snprintf(out + used, room - used, "%s", field ? field->name : "a field without a name");
    return out;
}

static psd_status damaged(const struct reader *reader, const ProtobufCFieldDescriptor *field,
                          const char *what)
{
    char where[300];

    return psd_fail(PSD_ECONFIG, "%s: damaged or cut short at byte %llu, in %s: %s",
                    reader->document->path, (unsigned long long)reader->bytes->at,
                    place(reader, field, where, sizeof where), what);
}

static psd_status no_memory(const struct reader *reader, const ProtobufCFieldDescriptor *field)
{
    char where[300];

    return psd_fail(PSD_ENOMEM, "%s: %s needs %s", reader->document->path,
                    place(reader, field, where, sizeof where), psd_error());
}

static psd_status read_varint(struct reader *reader, const ProtobufCFieldDescriptor *field,
                              uint64_t end, uint64_t *out)
{
    uint64_t value = 0;
    uint8_t byte = 0x80;

    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (reader->bytes->at >= end)
            return damaged(reader, field, "a number goes on beyond its end");
        PSD_TRY(psd_bytes_one(reader->bytes, &byte));
        if (shift > 63 || (shift == 63 && byte > 1))
            return damaged(reader, field, "a number of more than 64 bits");
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    *out = value;
    return PSD_OK;
}

/* Reads a length and sees to it that so many bytes are there. */
static psd_status read_length(struct reader *reader, const ProtobufCFieldDescriptor *field,
                              uint64_t end, size_t *out)
{
    uint64_t length = 0;

    PSD_TRY(read_varint(reader, field, end, &length));
    if (length > end - reader->bytes->at) {
        char what[100];
        snprintf(what, sizeof what, "it says that %llu bytes follow, but there are %llu",
                 (unsigned long long)length, (unsigned long long)(end - reader->bytes->at));
        return damaged(reader, field, what);
    }
    *out = (size_t)length;
    return PSD_OK;
}

static enum shape shape_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return LENGTH;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return FOUR;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return EIGHT;
    default:
        return VARINT;
    }
}

/* Puts a varint into a field; false for a number that its enumeration does not have. */
static bool decode(const ProtobufCFieldDescriptor *field, uint64_t number, uint64_t *out)
{
    uint32_t low = (uint32_t)number;

    switch (field->type) {
    case PROTOBUF_C_TYPE_ENUM:
        if (!protobuf_c_enum_descriptor_get_value(psd_field_enum(field), (int)low))
            return false;
        break;
    case PROTOBUF_C_TYPE_BOOL:
        low = number != 0;
        break;
    case PROTOBUF_C_TYPE_SINT32:
        low = low >> 1 ^ (0 - (low & 1));
        break;
    case PROTOBUF_C_TYPE_SINT64:
        *out = number >> 1 ^ (0 - (number & 1));
        return true;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        *out = number;
        return true;
    default:
        break;
    }
    memcpy(out, &low, sizeof low);
    return true;
}

/* Keeps what the schema does not know: the bytes behind the tag, as protobuf-c writes them back. */
static psd_status keep(struct reader *reader, ProtobufCMessage *message, uint32_t number,
                       enum shape shape, const void *head, size_t head_size, size_t size)
{
    struct psd_arena *arena = reader->document->arena;
    unsigned n = message->n_unknown_fields;
    ProtobufCMessageUnknownField *unknown = psd_arena_grow(
        arena, message->unknown_fields, n * sizeof *unknown, (n + 1) * sizeof *unknown);
    uint8_t *data = unknown ? psd_arena_alloc(arena, head_size + size) : NULL;

    if (!data)
        return no_memory(reader, NULL);
    memcpy(data, head, head_size);
    PSD_TRY(psd_bytes_copy(reader->bytes, data + head_size, size));
    unknown[n] = (ProtobufCMessageUnknownField){.tag = number,
                                                .wire_type = (ProtobufCWireType)shape,
                                                .len = head_size + size,
                                                .data = data};
    message->unknown_fields = unknown;
    message->n_unknown_fields = n + 1;
    return PSD_OK;
}

static size_t encode_varint(uint64_t value, uint8_t *out)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

static psd_status keep_varint(struct reader *reader, ProtobufCMessage *message, uint32_t number,
                              uint64_t value)
{
    uint8_t head[10];

    return keep(reader, message, number, VARINT, head, encode_varint(value, head), 0);
}

static psd_status read_unknown(struct reader *reader, ProtobufCMessage *message, uint32_t number,
                               enum shape shape, uint64_t end)
{
    uint8_t head[10];
    uint64_t value = 0;
    size_t size = shape == FOUR ? 4 : 8;

    if (shape == VARINT) {
        PSD_TRY(read_varint(reader, NULL, end, &value));
        return keep_varint(reader, message, number, value);
    }
    if (shape == LENGTH) {
        PSD_TRY(read_length(reader, NULL, end, &size));
        return keep(reader, message, number, shape, head, encode_varint(size, head), size);
    }
    if (shape != FOUR && shape != EIGHT)
        return damaged(reader, NULL, "a field of a shape that does not exist");
    if (size > end - reader->bytes->at)
        return damaged(reader, NULL, "a number goes on beyond its end");
    return keep(reader, message, number, shape, head, 0, size);
}

static psd_status put_varint(struct reader *reader, ProtobufCMessage *message,
                             const ProtobufCFieldDescriptor *field, uint64_t end)
{
    uint64_t number = 0, value = 0;

    PSD_TRY(read_varint(reader, field, end, &number));
    if (!decode(field, number, &value))
        return keep_varint(reader, message, field->id, number);
    psd_status status = psd_field_put(reader->document->arena, message, field, &value);
    return status == PSD_OK ? PSD_OK : no_memory(reader, field);
}

static psd_status put_fixed(struct reader *reader, ProtobufCMessage *message,
                            const ProtobufCFieldDescriptor *field, uint64_t end)
{
    size_t size = psd_field_size(field);
    uint64_t value;

    if (size > end - reader->bytes->at)
        return damaged(reader, field, "a number goes on beyond its end");
    PSD_TRY(psd_bytes_copy(reader->bytes, &value, size));
    psd_status status = psd_field_put(reader->document->arena, message, field, &value);
    return status == PSD_OK ? PSD_OK : no_memory(reader, field);
}

/* Packed numbers: an array of fixed width is copied as it stands, since all machines we run on are
 * little-endian as the format is; varints are decoded one by one. */
static psd_status put_packed(struct reader *reader, ProtobufCMessage *message,
                             const ProtobufCFieldDescriptor *field, size_t length)
{
    uint64_t end = reader->bytes->at + length;
    size_t size = psd_field_size(field);

    if (shape_of(field) == VARINT) {
        while (reader->bytes->at < end)
            PSD_TRY(put_varint(reader, message, field, end));
        return PSD_OK;
    }
    if (length % size)
        return damaged(reader, field, "its length is not a whole number of values");
    if (!length)
        return PSD_OK;
    void *to = psd_field_extend(reader->document->arena, message, field, length / size);
    return to ? psd_bytes_copy(reader->bytes, to, length) : no_memory(reader, field);
}

static psd_status put_text(struct reader *reader, ProtobufCMessage *message,
                           const ProtobufCFieldDescriptor *field, size_t length)
{
    struct psd_arena *arena = reader->document->arena;
    char *text = psd_arena_alloc(arena, length + 1);

    if (!text)
        return no_memory(reader, field);
    PSD_TRY(psd_bytes_copy(reader->bytes, text, length));
    text[length] = 0;
    if (field->type == PROTOBUF_C_TYPE_STRING && memchr(text, 0, length))
        return damaged(reader, field, "a string with a NUL byte in it");
    ProtobufCBinaryData bytes = {length, (uint8_t *)text};
    const void *value = field->type == PROTOBUF_C_TYPE_STRING ? (const void *)&text : &bytes;
    psd_status status = psd_field_put(arena, message, field, value);
    return status == PSD_OK ? PSD_OK : no_memory(reader, field);
}

static psd_status read_message(struct reader *reader, ProtobufCMessage *message, uint64_t end);

/* A single message that comes twice is merged, as the format demands. */
static psd_status put_message(struct reader *reader, ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field, size_t length)
{
    size_t count = psd_field_count(message, field);
    bool merges = count && field->label != PROTOBUF_C_LABEL_REPEATED;
    ProtobufCMessage *inner = NULL;

    if (merges)
        inner = psd_field_message(message, field, 0);
    else if (psd_field_add_message(reader->document->arena, message, field, &inner) != PSD_OK)
        return no_memory(reader, field);
    if (reader->depth == DEEPEST)
        return damaged(reader, field, "messages nested deeper than any schema of ours");
    reader->path[reader->depth].field = field;
    reader->path[reader->depth++].index = merges ? 0 : count;
    PSD_TRY(read_message(reader, inner, reader->bytes->at + length));
    reader->depth--;
    return PSD_OK;
}

static psd_status put_length(struct reader *reader, ProtobufCMessage *message,
                             const ProtobufCFieldDescriptor *field, uint64_t end)
{
    size_t length = 0;

    PSD_TRY(read_length(reader, field, end, &length));
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return put_message(reader, message, field, length);
    if (shape_of(field) == LENGTH)
        return put_text(reader, message, field, length);
    return put_packed(reader, message, field, length);
}

static bool takes(const ProtobufCFieldDescriptor *field, enum shape shape)
{
    return shape == shape_of(field) ||
           (shape == LENGTH && field->label == PROTOBUF_C_LABEL_REPEATED);
}

/* A message without one of its required fields says nothing. */
static psd_status check_required(struct reader *reader, const ProtobufCMessageDescriptor *type,
                                 uint64_t seen)
{
    for (unsigned i = 0; i < type->n_fields && i < 64; i++) {
        if (type->fields[i].label == PROTOBUF_C_LABEL_REQUIRED && !(seen >> i & 1))
            return damaged(reader, &type->fields[i], "this field is missing");
    }
    return PSD_OK;
}

static psd_status read_message(struct reader *reader, ProtobufCMessage *message, uint64_t end)
{
    uint64_t seen = 0; /* a bit for each of the first fields */

    while (reader->bytes->at < end) {
        uint64_t tag = 0;
        PSD_TRY(read_varint(reader, NULL, end, &tag));
        if (tag > UINT32_MAX || tag >> 3 == 0)
            return damaged(reader, NULL, "a field number that cannot be");
        uint32_t number = (uint32_t)tag >> 3;
        enum shape shape = (enum shape)(tag & 7);
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(message->descriptor, number);
        if (field && takes(field, shape) && field - message->descriptor->fields < 64)
            seen |= UINT64_C(1) << (field - message->descriptor->fields);
        if (!field || !takes(field, shape))
            PSD_TRY(read_unknown(reader, message, number, shape, end));
        else if (shape == LENGTH)
            PSD_TRY(put_length(reader, message, field, end));
        else if (shape == VARINT)
            PSD_TRY(put_varint(reader, message, field, end));
        else
            PSD_TRY(put_fixed(reader, message, field, end));
    }
    return check_required(reader, message->descriptor, seen);
}

psd_status psd_wire_read(struct psd_document *document, struct psd_bytes *bytes)
{
    struct reader reader = {.document = document, .bytes = bytes};

    return read_message(&reader, document->root, bytes->size);
}

/* Whether what stands in `size` bytes can be a name; messages have small numbers in them. A NUL is
 * left for the reader to complain about. */
static bool is_name(const uint8_t *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        if (bytes[i] && bytes[i] < ' ')
            return false;
    }
    return true;
}

size_t psd_wire_fit(const ProtobufCMessageDescriptor *type, const void *data, size_t size)
{
    char nothing[] = "";
    struct psd_document nobody = {.path = nothing};
    struct psd_bytes bytes;
    struct reader reader = {.document = &nobody, .bytes = &bytes};
    size_t fits = 0;
    uint64_t tag = 0, value = 0;

    psd_bytes_init_memory(&bytes, "", data, size);
    while (bytes.at < size) {
        if (read_varint(&reader, NULL, size, &tag) != PSD_OK || tag > UINT32_MAX)
            break;
        enum shape shape = (enum shape)(tag & 7);
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
        uint64_t skip = shape == FOUR ? 4 : shape == EIGHT ? 8 : 0;
        if (shape == VARINT || shape == LENGTH) {
            if (read_varint(&reader, NULL, size, &value) != PSD_OK)
                break;
            skip = shape == LENGTH ? value : 0;
        }
        uint64_t left = size - bytes.at;
        if (field && takes(field, shape))
            fits += field->type != PROTOBUF_C_TYPE_STRING ||
                    is_name(bytes.next, skip < left ? skip : left);
        if (skip > left)
            break;
        bytes.at += skip;
        bytes.next += skip;
    }
    return fits;
}
