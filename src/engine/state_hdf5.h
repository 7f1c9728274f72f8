/* state_hdf5.h - a solver's state in an HDF5 file, as Caffe lays it out.
 *
 *     iter, current_step      an integer each
 *     learned_net             the path of the file with the weights
 *     history/0, history/1    what the rule keeps for each parameter */
#ifndef PSD_ENGINE_STATE_HDF5_H
#define PSD_ENGINE_STATE_HDF5_H

#include "data/hdf5_plan.h"
#include "engine/solver.h"

/* Reads one as a document of a SolverState; the caller destroys it. */
psd_status psd_state_read_hdf5(const char *path, struct psd_document **out);

/* Plans one whose weights are in the file `model`; history is borrowed until it is written. */
psd_status psd_state_plan_hdf5(const struct psd_solver *solver, const char *model,
                               struct psd_hdf5_plan *plan);

#endif
