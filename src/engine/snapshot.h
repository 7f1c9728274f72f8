/* snapshot.h - what is written into a snapshot and looked at again; only for solver.c, snapshot.c
 * and restore*.c. */
#ifndef PSD_ENGINE_SNAPSHOT_H
#define PSD_ENGINE_SNAPSHOT_H

#include "engine/solver.h"

enum { PSD_SNAPSHOT_CHOICE = 300 }; /* room for a choice */

/* Who computes a layer that has an operation: "conv1 simd". */
void psd_snapshot_choice(const struct psd_layer *layer, char *out, size_t room);

/* Packs the state and writes it while training goes on; the one before has ended. *outcome is PSD_OK, or why
 * there is no snapshot, with its sentence, the same on every process; training can go on without one. */
psd_status psd_solver_begin_snapshot(struct psd_solver *solver, psd_status *outcome);

/* Waits until it is written, if one is being written, and says in the same way whether it is. */
psd_status psd_solver_end_snapshot(struct psd_solver *solver, psd_status *outcome);

/* The same; one that could not be written is only told to the log. Before the start there is none. */
psd_status psd_solver_finish_snapshot(struct psd_solver *solver);

/* Makes the outcome of the process that writes, and its sentence, that of all; one that does not write can
 * only be without memory. */
psd_status psd_snapshot_share(struct psd_solver *solver, int64_t iteration, psd_status *outcome);

/* Takes from the .poseidonstate `path`, if there is one, what a restored solver needs of it. PSD_ECONFIG: it
 * is damaged, or of another net or job. */
psd_status psd_solver_restore_own(struct psd_solver *solver, const char *path);

#endif
