/* alone.h - the team of a solver that has no other: one worker, in this process, on the solver's nets. */
#ifndef PSD_ENGINE_ALONE_H
#define PSD_ENGINE_ALONE_H

#include "engine/solver.h"

struct psd_team psd_alone(struct psd_solver *solver);

#endif
