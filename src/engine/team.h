/* team.h - who computes an iteration of a solver: it alone, or workers in many processes.
 *
 *     solver   when to test, show, save;      team   alone.c: one worker, here
 *              rates, words, files      -->          train/ensemble.c: S workers, in P processes
 *
 * The solver runs on every process of a team and does the same everywhere. What it decides by is
 * equal everywhere, or comes from the team. All functions are called on the solver's thread, in the
 * same order on every process. */
#ifndef PSD_ENGINE_TEAM_H
#define PSD_ENGINE_TEAM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd_solver;

enum psd_solver_action { PSD_SOLVER_GO_ON, PSD_SOLVER_SNAPSHOT, PSD_SOLVER_STOP };

/* One iteration. */
struct psd_team_step {
    uint64_t iteration;
    float rate;
    bool forward_only; /* nothing is updated */
    float *losses;     /* [hosted]: filled with each hosted worker's mean over its passes */
    float *
        outputs; /* [hosted][outputs]: filled with those of each one's last pass; NULL: not wanted */
};

/* Some batches of a test net, counted from the first that the net has ever had. */
struct psd_team_test {
    size_t net;
    uint64_t first;
    size_t batches;
    float *rows; /* [batches][1 + outputs]: filled on every process with loss and outputs of each */
};

struct psd_team {
    unsigned workers, hosted; /* logical workers of the job, and those of this process */
    bool writes;              /* this process writes the snapshots */
    size_t test_batches;      /* that can be tested at a time, by all processes together */
    void *context;            /* borrowed; outlives the solver */

    /* Once, when nets and values are those to start from. */
    psd_status (*start)(void *context, struct psd_solver *solver);

    /* All passes of all hosted workers, and the update; fresh values may still be on their way. */
    psd_status (*iterate)(void *context, const struct psd_team_step *step);

    /* Returns when every value, and what layers carry, is that of the latest iteration. */
    psd_status (*settle)(void *context);

    psd_status (*test)(void *context, const struct psd_team_test *test);

    /* Replaces the first of the rows `data` [hosted][count] by the mean over all workers, each of which
     * counts by its samples. NULL, as the next: there is one. */
    psd_status (*mean)(void *context, float *data, size_t count);

    /* What is done is what any process asks for; stopping comes before a snapshot. */
    psd_status (*agree)(void *context, enum psd_solver_action *action);

    /* Brings together on the process that writes what a snapshot needs beside the values: the history of
     * the rule, and what workers carry as their own. */
    psd_status (*gather)(void *context);

    /* Gives `data` what it is on the process that writes. NULL: there is one. */
    psd_status (*share)(void *context, void *data, size_t size);
};

#endif
