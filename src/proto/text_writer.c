/* text_writer.c - the text format, field by field. */
#include "proto/text_writer.h"
#include "proto/field.h"
#include "proto/number.h"
#include "proto/quoted.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 64 << 10 }; /* bytes of a string on one line */

struct writer {
    const struct psd_sink *sink;
    size_t longest;
    int indent;
    bool over; /* the sink wants no more */
};

static void put_bytes(struct writer *writer, const char *data, size_t size)
{
    if (!writer->over && !writer->sink->write(writer->sink->context, data, size))
        writer->over = true;
}

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
                                                      ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_bytes(writer, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* A long string is written in several, a line each, which readers join again: lines stay lines. */
static void put_quoted(struct writer *writer, const char *data, size_t length)
{
    char text[512];
    size_t used = 0;

    put(writer, "\"");
    for (size_t i = 0; i < length; i++) {
        used += psd_quoted_print(data[i], text + used);
        if (used > sizeof text - 4 || i + 1 == length) {
            put_bytes(writer, text, used);
            used = 0;
        }
        if ((i + 1) % PIECE == 0 && i + 1 < length) {
            put_bytes(writer, text, used);
            used = 0;
            put(writer, "\"\n%*s\"", writer->indent + 2, "");
        }
    }
    put(writer, "\"");
}

static void put_choice(struct writer *writer, const ProtobufCFieldDescriptor *field, int value)
{
    const ProtobufCEnumValue *known =
        protobuf_c_enum_descriptor_get_value(psd_field_enum(field), value);

    if (known)
        put(writer, "%s", known->name);
    else
        put(writer, "%d", value);
}

static void put_scalar(struct writer *writer, const ProtobufCFieldDescriptor *field, const void *at)
{
    char number[PSD_NUMBER_ROOM];

    switch (field->type) {
    case PROTOBUF_C_TYPE_ENUM:
        put_choice(writer, field, *(const int *)at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        put(writer, *(const protobuf_c_boolean *)at ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        psd_number_print_float(*(const float *)at, number);
        put(writer, "%s", number);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        psd_number_print_double(*(const double *)at, number);
        put(writer, "%s", number);
        break;
    case PROTOBUF_C_TYPE_STRING:
        put_quoted(writer, *(const char *const *)at, strlen(*(const char *const *)at));
        break;
    case PROTOBUF_C_TYPE_BYTES:
        put_quoted(writer, (const char *)((const ProtobufCBinaryData *)at)->data,
                   ((const ProtobufCBinaryData *)at)->len);
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        put(writer, "%" PRIu32, *(const uint32_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        put(writer, "%" PRIu64, *(const uint64_t *)at);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        put(writer, "%" PRId64, *(const int64_t *)at);
        break;
    default:
        put(writer, "%" PRId32, *(const int32_t *)at);
        break;
    }
}

static void put_message(struct writer *writer, const ProtobufCMessage *message);

static void put_field(struct writer *writer, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, size_t index)
{
    put(writer, "%*s%s", writer->indent, "", field->name);
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        put(writer, " {\n");
        writer->indent += 2;
        put_message(writer, psd_field_message(message, field, index));
        writer->indent -= 2;
        put(writer, "%*s}\n", writer->indent, "");
        return;
    }
    put(writer, ": ");
    put_scalar(writer, field, psd_field_at(message, field, index));
    put(writer, "\n");
}

static bool is_left_out(const struct writer *writer, const ProtobufCFieldDescriptor *field,
                        size_t count)
{
    return writer->longest && count > writer->longest && field->type != PROTOBUF_C_TYPE_MESSAGE &&
           field->type != PROTOBUF_C_TYPE_STRING;
}

static void put_message(struct writer *writer, const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        size_t count = psd_field_count(message, field);
        if (is_left_out(writer, field, count)) {
            put(writer, "%*s# %s: %zu values\n", writer->indent, "", field->name, count);
            continue;
        }
        for (size_t k = 0; k < count && !writer->over; k++)
            put_field(writer, message, field, k);
    }
    for (unsigned i = 0; i < message->n_unknown_fields; i++)
        put(writer, "%*s# field %u, which this version does not know: %zu bytes\n", writer->indent,
            "", message->unknown_fields[i].tag, message->unknown_fields[i].len);
}

void psd_text_write(const ProtobufCMessage *message, const struct psd_text_options *options,
                    const struct psd_sink *sink)
{
    struct writer writer = {.sink = sink, .longest = options ? options->longest : 0};

    put_message(&writer, message);
}
