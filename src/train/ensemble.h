/* ensemble.h - the logical workers that this process hosts, as a solver's team: engine and comm meet.
 *
 *     solver  -->  ensemble  -->  twins: nets of one document that share their values, each on a thread
 *                     |             |     .----------------------------------------------.
 *                     |             '-->  | worker 4's passes, then 5's, ...              |
 *                     |                   | before a layer's forward    wait for its values
 *                     |                   | after a layer's backward    sync its gradients |
 *                     |                   '----------------------------------------------'
 *                     '-->  seat (poseidon/comm.h): sums, updates, fresh values
 *
 * A gradient leaves while the layers before it still compute, and the values of the first layers are
 * used while those of the last are still on their way; there is no moment at which all processes
 * wait for each other. What a worker computes follows from its number and the job alone, never from
 * where it is hosted. The solver's thread owns the ensemble; twins run between two of its calls. */
#ifndef PSD_TRAIN_ENSEMBLE_H
#define PSD_TRAIN_ENSEMBLE_H

#include "engine/solver.h"
#include "poseidon/comm.h"

/* What somebody wants of a parameter, or of a layer's weights: "fc6[0]" or "fc6". */
struct psd_ensemble_wish {
    const char *name; /* borrowed until the start, as all here */
    enum psd_form form;
    enum psd_route route;
};

struct psd_ensemble_options {
    /* Address, key, rank, ranks, workers, threads, timeout and the like; parameters, batches, rule and
     * who hosts whom are ours to fill in. What it borrows is borrowed until the start. */
    struct psd_comm_options seat;

    unsigned threads;    /* of each worker; the same in the whole job; 0: 1 */
    unsigned processors; /* that this process has; 0: 1 */
    const char *backend; /* of the operations; NULL: the best for each */
    size_t global_batch; /* samples of all workers in a pass; 0: as the prototxt says for each */
    bool sums;           /* gradients are added up, not averaged, and so is the weight decay */
    uint64_t verify;     /* replicas are compared every so many iterations; 0: never */
    const struct psd_ensemble_wish *wishes;
    size_t n_wishes;
    struct psd_log *log; /* borrowed until destroy; NULL: silent */
};

struct psd_ensemble;

psd_status psd_ensemble_create(const struct psd_ensemble_options *options,
                               struct psd_ensemble **out);

/* Leaves the job. Before the solver is destroyed. NULL is fine. */
void psd_ensemble_destroy(struct psd_ensemble *ensemble);

/* The team for psd_solver_options; and batch and position there, which are those of our first worker, since
 * nothing of the others' may be here. */
struct psd_team psd_ensemble_team(struct psd_ensemble *ensemble);
void psd_ensemble_place(const struct psd_ensemble *ensemble, struct psd_solver_options *solver);

/* What the job does as text for people: how each parameter travels, and why; "" before the start. */
const char *psd_ensemble_plan(const struct psd_ensemble *ensemble);

#endif
