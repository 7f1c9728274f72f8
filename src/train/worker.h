/* worker.h - what belongs to one logical worker beside its samples; only for train/.
 *
 *     lent        a blob for each parameter, given to the net that computes for the worker:
 *                 its gradient, or its copy of a statistic
 *     factors     where gradients are factors and an iteration has several passes: those so far
 *     carried     what layers carry from pass to pass as the worker's own
 *
 * A worker belongs to the thread of its twin while an iteration runs, and to the solver's otherwise. */
#ifndef PSD_TRAIN_WORKER_H
#define PSD_TRAIN_WORKER_H

#include "train/enrolment.h"

/* u and v of all passes of an iteration. */
struct psd_worker_factors {
    float *u, *v; /* owned; NULL: there is one pass, or the parameter is dense */
    size_t rows;  /* so far */
};

struct psd_worker {
    unsigned number;
    size_t batch;                       /* samples of a pass */
    float share;                        /* what it counts in a mean: 1 where all have as many */
    struct psd_blob *lent;              /* owned; [n_params] */
    struct psd_worker_factors *factors; /* owned; [n_params] */
    float *carried;                     /* owned; NULL: nothing is carried */
    float loss;                         /* of the passes of an iteration, added up */
    float *outputs; /* borrowed; where those of its last pass are wanted; NULL: they are not */
};

/* Makes the memory that `number` needs for the net. fini also takes a worker that is all zero. */
psd_status psd_worker_init(struct psd_worker *worker, unsigned number, size_t batch,
                           const struct psd_net *net, const struct psd_enrolment *enrolment);
void psd_worker_fini(struct psd_worker *worker, size_t n_params);

/* Lends the net what it computes for this worker with. */
void psd_worker_lend(struct psd_worker *worker, struct psd_net *net,
                     const struct psd_enrolment *enrolment);

#endif
