/* digest.c - a walk over the descriptors. */
#include "proto/digest.h"
#include "base/crc32c.h"
#include "proto/field.h"

#include <string.h>

static uint32_t add_value(uint32_t crc, const ProtobufCFieldDescriptor *field, const void *value,
                          const char *const *without)
{
    uint32_t inner;

    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text = *(const char *const *)value;
        return text ? psd_crc32c(crc, text, strlen(text) + 1) : psd_crc32c(crc, "", 1);
    }
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *bytes = value;
        crc = psd_crc32c(crc, &bytes->len, sizeof bytes->len);
        return psd_crc32c(crc, bytes->data, bytes->len);
    }
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return psd_crc32c(crc, value, psd_field_size(field));
    inner = psd_digest_message(*(ProtobufCMessage *const *)value, without);
    return psd_crc32c(crc, &inner, sizeof inner);
}

/* A single value that is absent has its default in its place; a message has none. */
uint32_t psd_digest_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                          const char *const *without)
{
    bool has_default =
        field->label != PROTOBUF_C_LABEL_REPEATED && field->type != PROTOBUF_C_TYPE_MESSAGE;
    size_t count = psd_field_count(message, field);
    uint32_t crc = 0;

    if (has_default)
        return add_value(0, field, (const char *)message + field->offset, without);
    for (size_t i = 0; i < count; i++)
        crc = add_value(crc, field, psd_field_at(message, field, i), without);
    return psd_crc32c(crc, &count, sizeof count);
}

static bool is_left_out(const char *name, const char *const *without)
{
    while (*without && strcmp(*without, name) != 0)
        without++;
    return *without != NULL;
}

uint32_t psd_digest_message(const ProtobufCMessage *message, const char *const *without)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    uint32_t crc = 0;

    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        uint32_t part =
            is_left_out(field->name, without) ? 0 : psd_digest_field(message, field, without);
        crc = psd_crc32c(crc, &part, sizeof part);
    }
    return crc;
}
