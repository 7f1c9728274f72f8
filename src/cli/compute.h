/* compute.h - what the commands that compute have in common: options, device, operations.
 *
 *     struct train_options { struct psd_compute_options compute; char *solver; ... };
 *     static const struct psd_option train_options[] = {
 *         PSD_COMPUTE_OPTIONS(struct train_options),
 *         ...
 *     };
 */
#ifndef PSD_CLI_COMPUTE_H
#define PSD_CLI_COMPUTE_H

#include "cli/cli.h"
#include "device/device.h"
#include "engine/solver.h"
#include "ops/ops.h"

struct psd_compute_options {
    int64_t threads; /* 0: one for each processor that we may use */
    char *backend;   /* NULL: the best for each operation */
    char *gpu;       /* Caffe's flag; NULL: not given */
    int64_t level;
    char **stages;  /* NULL, or ends with NULL */
    char *max_bad;  /* NULL: the default */
    char **plugins; /* NULL, or ends with NULL */
};

/* clang-format off */
/* The rows of a table whose structure has them as the field `compute`. */
#define PSD_COMPUTE_OPTIONS(type)                                                                  \
    {"threads", "N", NULL, "computes with N threads; default: one for each processor",             \
     PSD_INT(type, compute.threads, 1, 4096)},                                                     \
    {"backend", "NAME", NULL, "computes with this backend where it can",                           \
     PSD_TEXT(type, compute.backend)},                                                             \
    {"gpu", "ID,...", NULL, "asks for GPUs, as in Caffe; this build has none",                     \
     PSD_TEXT(type, compute.gpu)},                                                                 \
    {"level", "N", "0", "the level that include and exclude rules see",                            \
     PSD_INT(type, compute.level, INT32_MIN, INT32_MAX)},                                          \
    {"stage", "NAME,...", NULL, "the stages that include and exclude rules see",                   \
     PSD_LIST(type, compute.stages)},                                                              \
    {"max-bad", "N|P%", NULL,                                                                      \
     "bears so many records that cannot be used, or this share of them; default: 0.1%",            \
     PSD_TEXT(type, compute.max_bad)},                                                             \
    {"plugin", "FILE,...", NULL, "has layers from outside, in these shared libraries",              \
     PSD_LIST(type, compute.plugins)}
/* clang-format on */

/* The names of Caffe__Phase, for an option. */
extern const char *const psd_compute_phases[]; /* "TRAIN", "TEST", NULL */

/* An open device, what computes on it, and what the options say otherwise. */
struct psd_compute {
    struct psd_device *device;   /* owned */
    struct psd_ops *ops;         /* owned */
    struct psd_plugins *plugins; /* owned; NULL: none */
    struct psd_bad_limit max_bad;
    int level;
    const char *const *stages; /* borrowed from the options; NULL, or ends with NULL */
    bool all_gradients;        /* of a net: see psd_net_options; false unless the caller sets it */
};

/* Opens what the options ask for. PSD_ENOSUP: they ask for a GPU. */
psd_status psd_compute_open(struct psd_cli *cli, const struct psd_compute_options *options,
                            struct psd_compute *out);
void psd_compute_close(struct psd_compute *compute);

/* Builds the net in `document`, which outlives it. The caller owns *out. */
psd_status psd_compute_net(struct psd_cli *cli, const struct psd_compute *compute,
                           struct psd_document *document, Caffe__Phase phase, struct psd_net **out);

/* What a solver of `document`, which outlives it, is built with; the caller may add to it. */
struct psd_solver_options psd_compute_solver(struct psd_cli *cli, const struct psd_compute *compute,
                                             struct psd_document *document);

/* Gives the net the weights of `files`, one after the other; NULL, or ends with NULL. */
psd_status psd_compute_load(struct psd_net *net, char *const *files);

#endif
