/* digest.h - a checksum of what a message says, to compare it with one that is elsewhere.
 *
 *     iter_size: 1      and nothing      the same: 1 is its default
 *     stride: 2         stride: 3        different
 *
 * What is left out by name, at any depth, may differ: the place of a file, say. It finds accidents, not
 * people. Any thread. */
#ifndef PSD_PROTO_DIGEST_H
#define PSD_PROTO_DIGEST_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

/* `without` are names of fields, and ends with NULL. */
uint32_t psd_digest_message(const ProtobufCMessage *message, const char *const *without);

/* The same of one field, by its descriptor in the message's type. */
uint32_t psd_digest_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                          const char *const *without);

#endif
