/* progress.h - the live line of a training: how far, how fast, how long still. */
#ifndef PSD_CLI_PROGRESS_H
#define PSD_CLI_PROGRESS_H

#include "cli/screen.h"
#include "engine/solver.h"

/* How far the training was at some time. */
struct psd_progress_mark {
    uint64_t time, samples;
    int64_t iteration;
};

/* What the line is made of. Speed is measured since the mark before the latest, so it follows the
 * training without flickering. The caller fills in the screen. */
struct psd_progress {
    struct psd_screen *screen; /* borrowed */
    int64_t last_iteration;    /* of the whole run */
    uint64_t samples;          /* so far */
    struct psd_progress_mark before, latest;
    char line[200];
};

/* The training begins where the solver is. */
void psd_progress_start(struct psd_progress *progress, const struct psd_solver *solver);

/* After an iteration; a progress of psd_solver_options, whose context is the psd_progress. */
void psd_progress_show(void *context, int64_t iteration, float loss, size_t samples);

#endif
