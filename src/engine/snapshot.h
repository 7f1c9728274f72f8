/* snapshot.h - what is written into a snapshot and looked at again; only for snapshot.c and restore.c. */
#ifndef PSD_ENGINE_SNAPSHOT_H
#define PSD_ENGINE_SNAPSHOT_H

#include "engine/solver.h"

enum { PSD_SNAPSHOT_CHOICE = 300 }; /* room for a choice */

/* Who computes a layer that has an operation: "conv1 simd". */
void psd_snapshot_choice(const struct psd_layer *layer, char *out, size_t room);

#endif
