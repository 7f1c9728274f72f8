/* field.c - reading and changing messages through their descriptors. */
#include "proto/field.h"

#include <assert.h>
#include <string.h>

const ProtobufCFieldDescriptor *psd_field_find(const ProtobufCMessageDescriptor *type,
                                               const char *name, size_t length)
{
    unsigned low = 0, high = type->n_fields;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        const ProtobufCFieldDescriptor *field = &type->fields[type->fields_sorted_by_name[middle]];
        int order = strncmp(field->name, name, length);
        if (order == 0 && field->name[length] == 0)
            return field;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const ProtobufCFieldDescriptor *psd_field_named(const ProtobufCMessageDescriptor *type,
                                                const char *name)
{
    const ProtobufCFieldDescriptor *field = psd_field_find(type, name, strlen(name));

    assert(field);
    return field;
}

size_t psd_field_size(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return 4;
    }
}

const ProtobufCEnumDescriptor *psd_field_enum(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_ENUM ? field->descriptor : NULL;
}

const ProtobufCMessageDescriptor *psd_field_type(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL;
}

static void *slot(const ProtobufCMessage *message, size_t offset)
{
    return (char *)(uintptr_t)message + offset;
}

static bool is_repeated(const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_REPEATED;
}

static bool is_pointer(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE;
}

size_t psd_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if (is_repeated(field))
        return *(size_t *)slot(message, field->quantifier_offset);
    if (is_pointer(field)) {
        const void *value = *(void **)slot(message, field->offset);
        return value && value != field->default_value;
    }
    if (field->label == PROTOBUF_C_LABEL_REQUIRED)
        return 1;
    return *(protobuf_c_boolean *)slot(message, field->quantifier_offset) != 0;
}

const void *psd_field_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                         size_t index)
{
    void *value = slot(message, field->offset);

    assert(index < psd_field_count(message, field));
    return is_repeated(field) ? *(char **)value + index * psd_field_size(field) : value;
}

ProtobufCMessage *psd_field_message(const ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field, size_t index)
{
    assert(field->type == PROTOBUF_C_TYPE_MESSAGE);
    return *(ProtobufCMessage *const *)psd_field_at(message, field, index);
}

void *psd_field_extend(struct psd_arena *arena, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field, size_t count)
{
    size_t *n = slot(message, field->quantifier_offset);
    void **array = slot(message, field->offset);
    size_t size = psd_field_size(field);

    assert(is_repeated(field));
    char *grown = psd_arena_grow(arena, *array, *n * size, (*n + count) * size);
    if (!grown)
        return NULL;
    *array = grown;
    *n += count;
    return grown + (*n - count) * size;
}

psd_status psd_field_put(struct psd_arena *arena, ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, const void *value)
{
    void *to = slot(message, field->offset);

    if (is_repeated(field)) {
        to = psd_field_extend(arena, message, field, 1);
        if (!to)
            return PSD_ENOMEM;
    } else if (field->label == PROTOBUF_C_LABEL_OPTIONAL && !is_pointer(field)) {
        *(protobuf_c_boolean *)slot(message, field->quantifier_offset) = 1;
    }
    memcpy(to, value, psd_field_size(field));
    return PSD_OK;
}

psd_status psd_field_new_message(struct psd_arena *arena, const ProtobufCMessageDescriptor *type,
                                 ProtobufCMessage **out)
{
    ProtobufCMessage *message = psd_arena_alloc(arena, type->sizeof_message);
    if (!message)
        return PSD_ENOMEM;
    protobuf_c_message_init(type, message);
    *out = message;
    return PSD_OK;
}

psd_status psd_field_add_message(struct psd_arena *arena, ProtobufCMessage *message,
                                 const ProtobufCFieldDescriptor *field, ProtobufCMessage **out)
{
    ProtobufCMessage *added = NULL;

    PSD_TRY(psd_field_new_message(arena, psd_field_type(field), &added));
    PSD_TRY(psd_field_put(arena, message, field, &added));
    *out = added;
    return PSD_OK;
}

void psd_field_clear(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if (is_repeated(field)) {
        *(size_t *)slot(message, field->quantifier_offset) = 0;
        *(void **)slot(message, field->offset) = NULL;
    } else if (is_pointer(field)) {
        *(const void **)slot(message, field->offset) = field->default_value;
    } else if (field->label == PROTOBUF_C_LABEL_OPTIONAL) {
        *(protobuf_c_boolean *)slot(message, field->quantifier_offset) = 0;
        if (field->default_value)
            memcpy(slot(message, field->offset), field->default_value, psd_field_size(field));
        else
            memset(slot(message, field->offset), 0, psd_field_size(field));
    }
}
