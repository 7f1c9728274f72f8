/* text_value.h - one scalar of the text format: what its field expects, and what was written.
 *
 *     kernel_size: -3      "kernel_size" expects a whole number from 0 to 4294967295, found -3
 */
#ifndef PSD_PROTO_TEXT_VALUE_H
#define PSD_PROTO_TEXT_VALUE_H

#include "base/arena.h"
#include "proto/mistakes.h"
#include "proto/token.h"

#include <protobuf-c/protobuf-c.h>

struct psd_text_value {
    const ProtobufCFieldDescriptor *field;
    struct psd_position at; /* where it starts */
    bool negative;          /* a minus stands before it */
    bool good;              /* `as` holds a value */
    struct psd_token token; /* what is to be taken next */
    union {
        int32_t int32;
        uint32_t uint32;
        int64_t int64;
        uint64_t uint64;
        float real;
        double real64;
        protobuf_c_boolean boolean;
        int choice;
        char *string; /* in the arena */
        ProtobufCBinaryData bytes;
    } as;
    size_t length; /* bytes of string so far */
};

/* Takes the token as the value; a string token after a string is joined to it. What does not fit is
 * added to the mistakes and leaves the value not good. */
psd_status psd_text_value_take(struct psd_text_value *value, struct psd_arena *arena,
                               struct psd_mistakes *mistakes);

/* Adds the mistake that the token is not what the field expects. */
void psd_text_value_unfit(struct psd_text_value *value, struct psd_mistakes *mistakes);

#endif
