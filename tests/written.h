/* written.h - what the writers write, in memory, for tests that read it again.
 *
 *     struct written text = written_text(document->root);
 *     psd_text_read(again, text.data, text.size);
 *     CHECK(written_equal(&text, &other));
 *     written_fini(&text);
 */
#ifndef PSD_TESTS_WRITTEN_H
#define PSD_TESTS_WRITTEN_H

#include "proto/field.h"
#include "proto/text_writer.h"
#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

struct written {
    char *data; /* owned; exactly `size` bytes once it is complete */
    size_t size, room;
};

static inline bool written_add(void *context, const void *data, size_t size)
{
    struct written *written = context;

    if (size == 0)
        return true;
    if (size > written->room - written->size) {
        written->room = 2 * (written->size + size);
        written->data = realloc(written->data, written->room);
        if (!written->data)
            abort();
    }
    memcpy(written->data + written->size, data, size);
    written->size += size;
    return true;
}

/* Gives back what is too much, so that a sanitizer sees the first byte read behind the end. */
static inline void written_end(struct written *written)
{
    char *data = malloc(written->size);

    if (!data)
        abort();
    if (written->size)
        memcpy(data, written->data, written->size);
    free(written->data);
    written->data = data;
}

static inline struct written written_text(const ProtobufCMessage *message)
{
    struct written written = {0};
    struct psd_sink sink = {.write = written_add, .context = &written};

    psd_text_write(message, NULL, &sink);
    written_end(&written);
    return written;
}

static inline struct written written_wire(const ProtobufCMessage *message)
{
    struct written written = {0};
    struct psd_sink sink = {.write = written_add, .context = &written};

    if (psd_wire_write(message, &sink) != PSD_OK)
        abort();
    written_end(&written);
    return written;
}

static inline bool written_equal(const struct written *a, const struct written *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static inline void written_fini(struct written *written)
{
    free(written->data);
    *written = (struct written){0};
}

/* Whether a message or one inside it has fields that text has no way to write: all that the schema
 * does not know, or with `misfits` only those whose number it knows. */
static inline bool written_has_unknown(const ProtobufCMessage *message, bool misfits)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;

    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        if (!misfits ||
            protobuf_c_message_descriptor_get_field(type, message->unknown_fields[i].tag))
            return true;
    }
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        size_t count = field->type == PROTOBUF_C_TYPE_MESSAGE ? psd_field_count(message, field) : 0;
        for (size_t k = 0; k < count; k++) {
            if (written_has_unknown(psd_field_message(message, field, k), misfits))
                return true;
        }
    }
    return false;
}

#endif
