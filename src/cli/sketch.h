/* sketch.h - a net's layers and shapes, without its samples, its weights or their memory.
 *
 *     struct draw_options { struct psd_sketch_options sketch; char *out; };
 *     static const struct psd_option draw_options[] = {
 *         PSD_SKETCH_OPTIONS(struct draw_options),
 *         ...
 *     };
 *
 * For commands that look at a net and compute nothing with it. */
#ifndef PSD_CLI_SKETCH_H
#define PSD_CLI_SKETCH_H

#include "cli/compute.h"

struct psd_sketch_options {
    char *model;       /* a file; NULL: not given */
    char *input_shape; /* of a sample, "3x227x227"; NULL: as the net or its database says */
    int64_t batch;     /* 0: the net's own */
    Caffe__Phase phase;
    int64_t level;
    char **stages, **plugins; /* each NULL, or ends with NULL */
};

/* clang-format off */
/* The rows of a table whose structure has them as the field `sketch`. */
#define PSD_SKETCH_OPTIONS(type)                                                                   \
    {"model", "FILE", NULL, "the net", PSD_TEXT(type, sketch.model)},                              \
    {"phase", NULL, "TRAIN", "builds the net for this phase",                                      \
     PSD_CHOICE(type, sketch.phase, psd_compute_phases)},                                          \
    {"batch", "K", NULL, "samples of one pass; default: the net's",                                \
     PSD_INT(type, sketch.batch, 1, 1 << 30)},                                                     \
    {"input-shape", "CxHxW", NULL,                                                                 \
     "the shape of a sample; default: as its database has it, or transform_param cuts it",         \
     PSD_TEXT(type, sketch.input_shape)},                                                          \
    {"level", "N", "0", "the level that include and exclude rules see",                            \
     PSD_INT(type, sketch.level, INT32_MIN, INT32_MAX)},                                           \
    {"stage", "NAME,...", NULL, "the stages that include and exclude rules see",                   \
     PSD_LIST(type, sketch.stages)},                                                               \
    {"plugin", "FILE,...", NULL, "has layers from outside, in these shared libraries",             \
     PSD_LIST(type, sketch.plugins)}
/* clang-format on */

struct psd_sketch {
    struct psd_compute compute; /* owned, as are the others */
    struct psd_document *document;
    struct psd_net *net; /* computes nothing: psd_net_options.sketch */
};

/* Builds the net that the options mean. PSD_EINVAL: they are wrong. */
psd_status psd_sketch_open(struct psd_cli *cli, const struct psd_sketch_options *options,
                           struct psd_sketch *out);
void psd_sketch_close(struct psd_sketch *sketch);

/* Writes a shape as "256x96x55x55", and "1" of no axis. Returns `out`. */
const char *psd_sketch_shape(const struct psd_shape *shape, char *out, size_t room);

/* Reads "3x227x227" or "3,227,227". */
bool psd_sketch_read_shape(const char *text, struct psd_shape *out);

/* Learnable values that the layer is the first to use: statistics, which are measured, and parameters
 * of layers above are not among them. */
size_t psd_sketch_params(const struct psd_layer *layer);

/* Whether the net has put the layer there where several layers read one blob. */
bool psd_sketch_is_split(const struct psd_layer *layer);

#endif
