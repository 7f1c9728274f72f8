/* teamwork.h - training with several workers: the options, and the ensemble that they ask for.
 *
 *     -n 4                    processes on this machine (local.h)
 *     --logical-workers 8     dealt out to them; what they compute does not depend on how many there are
 *     --worker-threads 2      that each worker computes with
 */
#ifndef PSD_CLI_TEAMWORK_H
#define PSD_CLI_TEAMWORK_H

#include "cli/compute.h"
#include "cli/invitation.h"
#include "train/ensemble.h"

enum psd_teamwork_reduce { PSD_TEAMWORK_MEAN, PSD_TEAMWORK_SUM };
extern const char *const psd_teamwork_reduces[]; /* "mean", "sum", NULL */

struct psd_teamwork_options {
    int64_t workers, threads, global_batch, verify; /* 0: not given */
    enum psd_teamwork_reduce reduce;
    char **forms, **routes; /* NULL, or ends with NULL */
};

/* clang-format off */
/* The rows of a table whose structure has them as the field `team`. */
#define PSD_TEAMWORK_OPTIONS(type)                                                                 \
    {"logical-workers", "S", NULL,                                                                 \
     "workers that the processes share; they, not the processes, decide the result; default: N",   \
     PSD_INT(type, team.workers, 1, 4096)},                                                        \
    {"worker-threads", "T", NULL,                                                                  \
     "threads of each worker; default: all processors for a single worker, else 1",                \
     PSD_INT(type, team.threads, 1, 4096)},                                                        \
    {"global-batch", "B", NULL,                                                                    \
     "samples of all workers together in a pass; default: the batch_size of the net for each",     \
     PSD_INT(type, team.global_batch, 1, 1 << 30)},                                                \
    {"reduce", NULL, "mean", "what becomes of the workers' gradients; sum multiplies the weight "  \
     "decay, too, and equals older systems for SGD and Nesterov",                                  \
     PSD_CHOICE(type, team.reduce, psd_teamwork_reduces)},                                         \
    {"form", "NAME=FORM,...", NULL, "what gradients are made of: fc6=dense or fc6=factored",       \
     PSD_LIST(type, team.forms)},                                                                  \
    {"route", "NAME=ROUTE,...", NULL, "how updates travel: fc6=servers, broadcast, row-sharded, "  \
     "local or single-owner",                                                                      \
     PSD_LIST(type, team.routes)},                                                                 \
    {"verify", "N", NULL, "compares all processes' values every N iterations, to the bit",         \
     PSD_INT(type, team.verify, 1, INT64_MAX)}
/* clang-format on */

struct psd_teamwork {
    unsigned ranks, workers, threads; /* P, S, T */
    struct psd_ensemble *ensemble;    /* owned; NULL: one worker, alone */
    struct psd_team team;             /* of the ensemble */
    struct psd_ensemble_wish *wishes; /* owned; what is wished for parameters */
    size_t n_wishes;
    bool in_clear;    /* what is sent is not encrypted */
    char address[64]; /* where the job meets, of one process; else where this one listens */
};

/* How many workers, and threads of each, the options mean for `ranks` processes. */
void psd_teamwork_count(const struct psd_teamwork_options *options,
                        const struct psd_compute_options *compute, unsigned ranks,
                        struct psd_teamwork *out);

/* Whether options and their values fit together, and a number of processes: misuse of the command.
 * PSD_ECONFIG: net.timeout is too short for any of them. */
psd_status psd_teamwork_check(struct psd_cli *cli, const struct psd_teamwork_options *options,
                              unsigned ranks);

/* Whether what processes of the job at `coordinator`, such as tcp://10.0.0.1:7070, send each other is not
 * encrypted. */
bool psd_teamwork_is_in_clear(const struct psd_network_config *network, const char *coordinator);

/* Makes the ensemble; `invitation` NULL: this process is the whole job. It is borrowed until the start
 * of training. */
psd_status psd_teamwork_open(struct psd_cli *cli, const struct psd_teamwork_options *options,
                             const struct psd_compute_options *compute,
                             const struct psd_invitation *invitation, struct psd_teamwork *out);
void psd_teamwork_close(struct psd_teamwork *teamwork);

/* Gives a solver the team. */
void psd_teamwork_join(const struct psd_teamwork *teamwork, struct psd_solver_options *solver);

#endif
