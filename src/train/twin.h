/* twin.h - one net of an ensemble, which computes for its workers in turn; only for train/.
 *
 * Twin 0 is the solver's own net; the others are made of the same document and look at its values.
 * While an iteration or a test runs a twin belongs to one thread of the ensemble's pool. */
#ifndef PSD_TRAIN_TWIN_H
#define PSD_TRAIN_TWIN_H

#include "train/values.h"
#include "train/worker.h"

struct psd_twin {
    /* What it uses of the ensemble; borrowed. */
    struct psd_comm *comm;
    struct psd_values *values;
    const struct psd_enrolment *enrolment;

    struct psd_ops *ops; /* owned unless it is the first, as is what follows */
    struct psd_net *net;
    struct psd_net **tests; /* [n_tests]; the array is owned */
    size_t n_tests;

    unsigned *numbers; /* owned; of its workers, in the order in which it computes for them */
    struct psd_worker *workers; /* borrowed; [n_workers] */
    unsigned n_workers;

    /* The pass under way. */
    struct psd_worker *now;
    bool first, last; /* of the worker's passes in the iteration */
    bool silent;      /* nothing is synced: only the loss is wanted */
};

struct psd_twin_options {
    const struct psd_solver *solver; /* borrowed until fini */
    struct psd_comm *comm;
    struct psd_values *values;
    const struct psd_enrolment *enrolment;
    struct psd_worker *workers; /* borrowed until fini; [n_workers] */
    unsigned n_workers;
    unsigned of;         /* logical workers in the job */
    size_t global_batch; /* 0: as the prototxt says for each */
    float loss_scale;    /* of a worker's gradients; for a global batch times its share */
    unsigned threads;
    const char *backend;
    bool first; /* it is the solver's own net */
};

/* fini also takes a twin that is all zero. */
psd_status psd_twin_init(struct psd_twin *twin, const struct psd_twin_options *options);
void psd_twin_fini(struct psd_twin *twin);

/* All passes of all its workers in an iteration; with `silent` one pass of each, without a backward. */
psd_status psd_twin_iterate(struct psd_twin *twin, bool silent);

/* Batch `batch` of test net `which`, the next of which is `stride` on: loss and outputs go to `row`. */
psd_status psd_twin_test(struct psd_twin *twin, size_t which, uint64_t batch, unsigned stride,
                         float *row);

#endif
