/* snapshot.h - what is written into a snapshot and looked at again; only for solver.c, snapshot.c
 * and restore.c. */
#ifndef PSD_ENGINE_SNAPSHOT_H
#define PSD_ENGINE_SNAPSHOT_H

#include "engine/solver.h"

enum { PSD_SNAPSHOT_CHOICE = 300 }; /* room for a choice */

/* Who computes a layer that has an operation: "conv1 simd". */
void psd_snapshot_choice(const struct psd_layer *layer, char *out, size_t room);

/* Packs the state and writes it while training goes on; the one before has ended. */
psd_status psd_solver_begin_snapshot(struct psd_solver *solver);

/* Waits until it is written, if one is being written. PSD_ECONFIG: it could not be. */
psd_status psd_solver_end_snapshot(struct psd_solver *solver);

/* The same; one that could not be written is only told to the log. Before the start there is none. */
psd_status psd_solver_finish_snapshot(struct psd_solver *solver);

#endif
