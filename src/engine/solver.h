/* solver.h - trains a net: iterations, tests, snapshots, in Caffe's order and with Caffe's words.
 *
 *     iteration   forward and backward (iter_size times) --> rate, clip, decay, rule --> values
 *                 every test_interval: the test nets      every snapshot: two files and ours
 *
 * The solver reads its samples, and draws all its random numbers, by iteration, so a run that was
 * stopped and resumed has the bits of one that was not. It belongs to one thread. */
#ifndef PSD_ENGINE_SOLVER_H
#define PSD_ENGINE_SOLVER_H

#include "engine/net.h"
#include "engine/rate.h"
#include "engine/team.h"
#include "math/rules.h"

#include <time.h>

/* What is shown of the training net, or of a test: means over all workers or batches. */
struct psd_solver_row {
    const struct psd_net *net;
    int test; /* its number; -1: it is the training net */
    int64_t iteration;
    float loss;
    const float *outputs; /* [psd_net_count_outputs] */
};

struct psd_solver_options {
    struct psd_document
        *document;                /* a SolverParameter, up to date; borrowed, outlives the solver */
    struct psd_device *device;    /* borrowed; outlives the solver */
    struct psd_ops *ops;          /* borrowed; outlives the solver */
    struct psd_log *log;          /* borrowed; NULL: silent */
    struct psd_bad_limit max_bad; /* records that data layers may leave out */
    const struct psd_plugins *plugins; /* layers from outside; borrowed; NULL: none */
    int level;
    const char *const *stages; /* of the training net; ends with NULL; borrowed for the call */

    const struct psd_team *team; /* who computes; copied; NULL: this solver alone */
    size_t batch;                /* samples of a training pass; 0: as the prototxt says */

    /* Whose samples the training net is made for; the team may move it at the start, and what it
     * borrows is borrowed until then. */
    struct psd_net_position position;
    uint64_t seed; /* where the solver file has none; 0: drawn */

    /* Of all nets: what stands in for layers that read files, NULL: they read them; and whether there
     * are to be shapes alone, see psd_net_options. Borrowed for the call. */
    const struct psd_stand_in *stand_in;
    bool sketch;

    /* Asked after each iteration and each test batch; NULL: always go on. */
    enum psd_solver_action (*action)(void *context);

    /* Told after each iteration; NULL: nobody wants to know. */
    void (*progress)(void *context, int64_t iteration, float loss, size_t samples);

    /* Told what is shown, for who wants it as numbers; NULL: nobody does. */
    void (*shown)(void *context, const struct psd_solver_row *row);
    void *context; /* borrowed */
};

struct psd_solver {
    struct psd_solver_options options;
    struct psd_team team;
    const Caffe__SolverParameter *param; /* borrowed from the document */
    const struct psd_rule *rule;
    uint64_t seed;
    char *prefix; /* owned; of snapshots */

    struct psd_document **nets; /* owned; the documents of the nets, the training net's first */
    size_t n_nets;
    struct psd_net *net;    /* owned */
    struct psd_net **tests; /* owned */
    size_t n_tests;
    uint64_t *test_from; /* owned; where each test net begins the test under way, or the next */

    /* What the rule keeps: kind k of parameter p at [k * n_params + p]. The first n_history are those of
     * Caffe; with snapshot_diff the latest update follows. Alone it is always here; a team keeps it
     * elsewhere, and it is here between a restore and the start, and in a snapshot. */
    float **history; /* owned; [n_params * rule->states]; NULL: elsewhere */
    size_t n_history;
    float *carried; /* owned; [workers][psd_carried_count]: what workers carry; NULL: in the net */

    bool started;
    bool forms_known; /* a snapshot says which parameters go as factors */
    uint64_t passes;  /* of each worker, from where training starts */
    int64_t iteration;
    struct psd_rate rate;
    float *losses;   /* owned; [average_loss][hosted]: the last of each worker, in a ring */
    size_t n_losses; /* of this run so far */
    float *shown; /* owned; [hosted][1 + outputs]: smoothed loss, outputs; means in the first row */
    float *outputs; /* owned; [hosted][outputs]: of the latest iteration that is displayed */
    bool stopped_early;
    int64_t saved;           /* the iteration of the latest snapshot; -1: there is none */
    struct psd_spool *spool; /* owned; the snapshot being written; NULL: none */
    uint64_t lap;            /* when the iterations of the last display began */
    int64_t lap_first;       /* and which */
};

/* Builds nets and state. PSD_ECONFIG: the sentence has the file and what is wrong in it. */
psd_status psd_solver_create(const struct psd_solver_options *options, struct psd_solver **out);
void psd_solver_destroy(struct psd_solver *solver);

/* Once, after restore or load: values and state go to where they are trained. */
psd_status psd_solver_start(struct psd_solver *solver);

/* Samples of all workers in a pass of each, and in an iteration. */
size_t psd_solver_pass(const struct psd_solver *solver);
size_t psd_solver_samples(const struct psd_solver *solver);

/* Make `history` and `carried`, all zero, if there is none; and drop the history. For teams. */
psd_status psd_solver_make_history(struct psd_solver *solver);
psd_status psd_solver_make_carried(struct psd_solver *solver);
void psd_solver_drop_history(struct psd_solver *solver);

/* Says now whether snapshots can be written, instead of after hours. */
psd_status psd_solver_probe(const struct psd_solver *solver);

/* Trains to max_iter, from where it is, with all that the solver file asks for on the way. */
psd_status psd_solver_solve(struct psd_solver *solver);

/* Trains `iterations` more. */
psd_status psd_solver_step(struct psd_solver *solver, int64_t iterations);

/* Runs all test nets. */
psd_status psd_solver_test(struct psd_solver *solver);

/* Writes <prefix>_iter_N.caffemodel, .poseidonstate and .solverstate, all of them or none, each whole
 * or not at all, the solverstate last. With snapshot_format: HDF5 Caffe's two end in .h5. */
psd_status psd_solver_snapshot(struct psd_solver *solver);

/* What the names of the snapshots of a solver file begin with. The caller owns *out. */
psd_status psd_solver_prefix(const struct psd_document *document, char **out);

/* The .solverstate of the snapshot that was written last, and not before `since` (NULL: whenever); *out is
 * NULL where there is none. The caller owns it. */
psd_status psd_solver_newest(const struct psd_document *document, const struct timespec *since,
                             char **out);

/* Goes on from a .solverstate of ours or of Caffe's. */
psd_status psd_solver_restore(struct psd_solver *solver, const char *path);

/* Starts from weights; `paths` may be several, separated by commas. NULL: those that the solver file
 * names, if any. */
psd_status psd_solver_load(struct psd_solver *solver, const char *paths);

#endif
