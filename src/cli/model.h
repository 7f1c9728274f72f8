/* model.h - what "plan" and "simulate" are about: a model, how fast it computes, and a network.
 *
 *     struct plan_options { struct psd_model_options model; ... };
 *     static const struct psd_option plan_options[] = {
 *         PSD_MODEL_OPTIONS(struct plan_options),
 *         ...
 *     };
 *
 *     --model vgg19 --batch 32 --profile titan-x  -->  a workload with its times
 */
#ifndef PSD_CLI_MODEL_H
#define PSD_CLI_MODEL_H

#include "cli/compute.h"
#include "comm/workload.h"
#include "poseidon/comm.h"

struct psd_model_options {
    struct psd_compute_options compute; /* level and stages of a net; else nothing is asked for */
    char *model, *profile;              /* NULL: not given */
    int64_t batch;                      /* 0: the model's own */
    uint64_t latency_ns;
};

/* clang-format off */
/* The rows of a table whose structure has them as the field `model`; the second with the network. */
#define PSD_MODEL_NET_OPTIONS(type)                                                                \
    {"model", "FILE|NAME", NULL, "the net: a file of Caffe's, or a description such as vgg19",     \
     PSD_TEXT(type, model.model)},                                                                 \
    {"profile", "FILE|NAME", NULL, "how fast a node computes, such as titan-x",                    \
     PSD_TEXT(type, model.profile)},                                                               \
    {"batch", "K", NULL, "samples of one node in an iteration; default: the model's",              \
     PSD_INT(type, model.batch, 1, 1 << 30)},                                                      \
    {"level", "N", "0", "the level that include and exclude rules see",                            \
     PSD_INT(type, model.compute.level, INT32_MIN, INT32_MAX)},                                    \
    {"stage", "NAME,...", NULL, "the stages that include and exclude rules see",                   \
     PSD_LIST(type, model.compute.stages)},                                                        \
    {"plugin", "FILE,...", NULL, "has layers from outside, in these shared libraries",              \
     PSD_LIST(type, model.compute.plugins)}
#define PSD_MODEL_OPTIONS(type)                                                                    \
    PSD_MODEL_NET_OPTIONS(type),                                                                   \
    {"latency", NULL, "50us", "how long a message takes from node to node beside its bytes",       \
     PSD_TIME(type, model.latency_ns)}
/* clang-format on */

enum {
    PSD_MODEL_NODES = 4096,      /* at most */
    PSD_MODEL_SAMPLES = 16 << 20 /* of all workers in an iteration, at most */
};

/* The workload that the options mean, with times if there is a profile; the caller owns *out. With a
 * `solver` file, which may be NULL, the net is the one it trains, and *update how it does so, whose
 * rule is static; else *update is SGD with momentum. */
psd_status psd_model_read(struct psd_cli *cli, const struct psd_model_options *options,
                          const char *solver, struct psd_workload **out,
                          struct psd_comm_update *update);

/* The same for a node that needs `seconds` for forward and backward: a third of it is forward, and
 * layers share it by their multiply-adds. The profile, titan-x if none is given, has only the speeds. */
psd_status psd_model_read_timed(struct psd_cli *cli, const struct psd_model_options *options,
                                double seconds, struct psd_workload **out);

/* PSD_EINVAL, as misuse: so many workers with the workload's batch are more than anybody trains with. */
psd_status psd_model_check_samples(struct psd_cli *cli, const struct psd_workload *workload,
                                   unsigned workers);

/* The latency in seconds. */
double psd_model_latency(const struct psd_model_options *options);

#endif
