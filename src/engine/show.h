/* show.h - lines about the outputs of a net, and what the files of a solver share; only for solver*.c
 * and testing.c. */
#ifndef PSD_ENGINE_SHOW_H
#define PSD_ENGINE_SHOW_H

#include "engine/solver.h"

/* The outputs of a net, one a line; who wants the row gets it. */
void psd_show_row(const struct psd_solver *solver, const struct psd_solver_row *row);

/* What is asked for now, by anybody in the team. */
psd_status psd_solver_ask(struct psd_solver *solver, enum psd_solver_action *action);

/* Replaces the first of the rows solver->shown [hosted][count] by the mean over all workers. */
psd_status psd_solver_mean(struct psd_solver *solver, size_t count);

/* A snapshot, or a warning that there is none. */
psd_status psd_solver_try_snapshot(struct psd_solver *solver);

#endif
