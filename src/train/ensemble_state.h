/* ensemble_state.h - what an ensemble is made of; only for ensemble*.c. */
#ifndef PSD_TRAIN_ENSEMBLE_STATE_H
#define PSD_TRAIN_ENSEMBLE_STATE_H

#include "base/pool.h"
#include "train/twin.h"

struct psd_ensemble {
    struct psd_ensemble_options options;
    unsigned rank, ranks, of; /* `of` logical workers in the job */
    unsigned *numbers;        /* owned; [hosted]: ours */
    unsigned hosted;

    struct psd_solver *solver; /* borrowed, from the start on */
    struct psd_comm *comm;     /* owned, as is what follows */
    struct psd_enrolment enrolment;
    struct psd_values values;
    struct psd_worker *workers; /* [hosted] */
    struct psd_twin *twins;     /* [n_twins] */
    unsigned n_twins;
    struct psd_pool *pool; /* as many threads as may compute at a time */

    unsigned first_twin, all_twins; /* the number of our first among all of the job */
    float *scratch;                 /* [hosted][PSD_COMM_REDUCE_MOST] */

    /* For agreements: what has been asked for here since the last, and when the next one is. */
    enum psd_solver_action asked;
    unsigned calls, calls_until; /* of agree */
    uint64_t iteration_ns;       /* that the latest took */

    const struct psd_team_step *step; /* while twins iterate */
    const struct psd_team_test *test; /* while they test */
};

/* Adds `count` numbers of every process: each gives `data`, and gets the sum. Any count. */
psd_status psd_ensemble_add_up(struct psd_ensemble *ensemble, float *data, size_t count);

/* Compares all values with those of worker 0's process; PSD_EPEER: the sentence names the first
 * difference. Values are settled. */
psd_status psd_ensemble_verify(struct psd_ensemble *ensemble);

/* Compares what is to be trained, and how, with worker 0's process; PSD_EPEER: the sentence names the
 * first difference and its rank, on every process. */
psd_status psd_ensemble_agree_terms(struct psd_ensemble *ensemble);

/* Where batches differ: outputs have as many values everywhere as in the smallest net. */
psd_status psd_ensemble_agree_outputs(struct psd_ensemble *ensemble);

/* Takes the seat, makes workers and twins; the team's start. */
psd_status psd_ensemble_start(void *context, struct psd_solver *solver);

#endif
