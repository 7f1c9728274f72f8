/* update.h - one step of all parameters from their gradients; only for solver*.c. */
#ifndef PSD_ENGINE_UPDATE_H
#define PSD_ENGINE_UPDATE_H

#include "engine/solver.h"

/* Clips, decays and applies the rule, in Caffe's order, with this learning rate. */
psd_status psd_solver_update(struct psd_solver *solver, float rate);

#endif
