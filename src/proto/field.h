/* field.h - a message's fields, reached through their descriptors.
 *
 * protobuf-c gives every message a plain C structure and a descriptor that tells where each field
 * stands in it. What works on any message (the readers, the writers, the upgrades) goes through the
 * functions here; what knows its message (a layer reading its parameters) uses the structure.
 *
 *     optional int32 x     has_x, x
 *     optional string x    x: NULL, or the default's own pointer, when it is absent; so are messages
 *     repeated T x         n_x, x[0] to x[n_x - 1]
 *
 * All memory of a message comes from its document's arena. */
#ifndef PSD_PROTO_FIELD_H
#define PSD_PROTO_FIELD_H

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* The field with that name; NULL when there is none. */
const ProtobufCFieldDescriptor *psd_field_find(const ProtobufCMessageDescriptor *type,
                                               const char *name, size_t length);

/* The field with that name, which must be in the schema; for code that knows its message. */
const ProtobufCFieldDescriptor *psd_field_named(const ProtobufCMessageDescriptor *type,
                                                const char *name);

/* Bytes of one value in the structure. */
size_t psd_field_size(const ProtobufCFieldDescriptor *field);

/* How many values the field has: 0 or 1, or the length of a repeated one. */
size_t psd_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

/* The value at `index`, which must be below the count; borrowed from the message. */
const void *psd_field_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                         size_t index);

/* The message at `index` of a field of messages; borrowed. */
ProtobufCMessage *psd_field_message(const ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field, size_t index);

/* Makes room for `count` values more of a repeated field and says where they go. NULL: no memory.
 */
void *psd_field_extend(struct psd_arena *arena, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field, size_t count);

/* Sets a single field, or appends to a repeated one, from a value of its type. */
psd_status psd_field_put(struct psd_arena *arena, ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, const void *value);

/* Puts a new, empty message into the field. */
psd_status psd_field_add_message(struct psd_arena *arena, ProtobufCMessage *message,
                                 const ProtobufCFieldDescriptor *field, ProtobufCMessage **out);

/* A new, empty message of that type. */
psd_status psd_field_new_message(struct psd_arena *arena, const ProtobufCMessageDescriptor *type,
                                 ProtobufCMessage **out);

/* Makes the field absent, or empty. */
void psd_field_clear(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

/* The values of an enumeration in the order of their declaration. */
const ProtobufCEnumDescriptor *psd_field_enum(const ProtobufCFieldDescriptor *field);
const ProtobufCMessageDescriptor *psd_field_type(const ProtobufCFieldDescriptor *field);

#endif
