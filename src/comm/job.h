/* job.h - what all members of a job have agreed on.
 *
 *     workers   0  1  2  3  4  5  6  7         S logical workers, fixed
 *     hosts     0  0  0  1  1  1  2  2         the rank that computes each
 *     batch     32 each                        samples of each in an iteration
 *
 *     params    conv1, conv1 bias, ... fc8     in forward order, each with form and route
 *
 * A job is made while members join (roster.h, or by hand for a simulation) and constant while it
 * runs, so any number of nodes in one process may share one. No thread owns it. */
#ifndef PSD_COMM_JOB_H
#define PSD_COMM_JOB_H

#include "math/rules.h"
#include "poseidon/comm.h"

enum { PSD_JOB_BATCH = 1 << 30 }; /* the most samples of a worker */

struct psd_job_param {
    char *name;        /* owned */
    size_t rows, cols; /* rows is 1 for a vector */
    float rate, decay; /* multipliers, as they are applied */
    bool factors;      /* could be synced by factors */
    bool averaged;     /* what is synced are values, whose mean comes next; always dense */
    int bias_of;       /* the weight whose u gives this bias, or -1 */

    enum psd_form form;   /* never AUTO once the job is planned */
    enum psd_route route; /* the same; a bias that follows its factored weight has its route */

    double forward_s, backward_s; /* of this member's layers, for the plan; as in poseidon/comm.h */
};

struct psd_job {
    unsigned ranks;   /* P processes; each hosts workers and serves pieces */
    unsigned workers; /* S */
    unsigned *host;   /* owned; [workers]: the rank of each */
    size_t *batch;    /* owned; [workers]: samples of each, for factors */

    enum psd_comm_mode mode;
    const struct psd_rule *rule;   /* static */
    struct psd_comm_update update; /* as applied: nothing is left to a default; `rule` is NULL, and
                                      `clip` is 0 in sum mode */

    struct psd_job_param *params; /* owned */
    size_t n_params, params_room;

    size_t window; /* bytes of a connection on their way at most; 0: the plan does not say */
};

/* A job of `ranks` processes and `workers` logical workers, each with `batch` samples, hosted evenly:
 * each rank has the workers that follow those of the rank before, and the first ranks have one more
 * where shares cannot be equal. `update` is copied; NULL is all zero, and what is zero in it takes
 * its default. PSD_EINVAL: a number is 0 or too large, or the rule is unknown. */
psd_status psd_job_create(unsigned ranks, unsigned workers, size_t batch, enum psd_comm_mode mode,
                          const struct psd_comm_update *update, struct psd_job **out);
void psd_job_destroy(struct psd_job *job);

/* Adds a parameter after checking it: a name that is new, a shape that is not empty, a form and route
 * that fit each other and it. A bias has 1 x its weight's rows, and asks for its weight's form and
 * route or for none. One that is averaged is dense, and only in update mode. A route that is asked for
 * gives an AUTO form; else form and route stay as they are asked for, AUTO included. PSD_EINVAL:
 * something does not fit; the job is as it was. */
psd_status psd_job_add(struct psd_job *job, const struct psd_comm_param *param);

/* Values of a parameter. */
size_t psd_job_count(const struct psd_job_param *param);

/* Whether the parameter's gradient comes from factors: its own, or as a bias from its weight's. */
bool psd_job_is_factored(const struct psd_job *job, size_t param);

/* Whether it is such a bias. */
bool psd_job_follows(const struct psd_job *job, size_t param);

/* The parameter that is synced for it: the weight of such a bias, else itself. */
size_t psd_job_leader(const struct psd_job *job, size_t param);

/* The bias that comes from the factors of weight `param`; n_params: there is none. */
size_t psd_job_follower(const struct psd_job *job, size_t param);

/* How many numbers beside each value the rule keeps here: none in sum mode. */
unsigned psd_job_states(const struct psd_job *job);

/* Workers on a rank; and samples of one rank, or of the whole job. */
unsigned psd_job_hosted(const struct psd_job *job, unsigned rank);
size_t psd_job_samples_of(const struct psd_job *job, unsigned rank);
size_t psd_job_samples(const struct psd_job *job);

/* What the rule is called with for `param`: `clipped` is what clipping leaves of the gradient, 1
 * without it. The mean over the workers is part of the scale. */
struct psd_rule_step psd_job_step(const struct psd_job *job, size_t param, uint64_t iteration,
                                  float rate, float clipped);

/* The factor that keeps the norm of the mean gradient below the limit, from the sum of squares of
 * the summed gradients of all parameters. */
float psd_job_clip(const struct psd_job *job, double squares);

#endif
