/* positions.h - where in its file each part of a message was written.
 *
 *     layer { name: "conv1" ... }       (layer, "name") -> 12:9
 *
 * So that a layer whose shapes do not fit can be named with file, line and column long after the
 * file was read, and after its layers were upgraded to newer messages. */
#ifndef PSD_PROTO_POSITIONS_H
#define PSD_PROTO_POSITIONS_H

#include "base/arena.h"

#include <stddef.h>

/* Line and column count from 1; line 0 means that the place is not known. */
struct psd_position {
    size_t line, column;
};

struct psd_positions;

/* Nothing known yet; lives in the arena, within its budget, and goes with it. */
psd_status psd_positions_create(struct psd_arena *arena, struct psd_positions **out);

/* Remembers where field number `field` of `message` was written the first time; field 0 is the
 * message itself. */
psd_status psd_positions_add(struct psd_positions *positions, const void *message, unsigned field,
                             struct psd_position position);

/* What was remembered; line 0 when nothing was. `positions` may be NULL. */
struct psd_position psd_positions_find(const struct psd_positions *positions, const void *message,
                                       unsigned field);

#endif
