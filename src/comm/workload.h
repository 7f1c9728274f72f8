/* workload.h - what one iteration computes, and the parameters it touches.
 *
 *     layers   conv1 ----- conv2 ----- fc6 ------ ...     forward order; backward is the reverse
 *     params   [0] [1]     [0] [1]     [0]  [1]           a gradient is ready after its layer's
 *                                       u, v              backward, a value needed at its forward
 *
 * Planner and simulator need no more of a net than this. It comes from a description
 * (comm/workload_file.h) or from a net of the engine, and gets its times from a profile
 * (comm/profile.h). Whoever has made it may read and change all fields. One thread at a time. */
#ifndef PSD_COMM_WORKLOAD_H
#define PSD_COMM_WORKLOAD_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* A parameter that learns: [rows][cols]. A vector has one row; the weights of a convolution have a
 * row for each output and a column for each channel and place of its kernel. */
struct psd_workload_param {
    char *name; /* owned; "fc6[0]", as the engine calls it */
    size_t rows, cols;
    bool factors; /* weights of an inner product: the gradient is u^T v, a row of each a sample */
    int bias_of;  /* the parameter whose u, summed over the samples, is this gradient; or -1 */
};

struct psd_workload_layer {
    char *name;  /* owned */
    double macs; /* multiply-adds for one sample, forward */
    size_t first_param, params;
    double forward_s, backward_s; /* of one batch; 0 until a profile is applied */
};

struct psd_workload {
    char *name;                        /* owned */
    size_t batch;                      /* samples that a worker computes with in one iteration */
    struct psd_workload_layer *layers; /* owned; in forward order */
    size_t n_layers;
    struct psd_workload_param *params; /* owned; in forward order */
    size_t n_params;
    size_t values; /* of all parameters together */

    /* How fast the device rebuilds a gradient from its factors, 2 * rows * cols * samples operations,
     * and how fast memory moves during updates and sums; 0 until a profile is applied. */
    double rebuild_flops, update_bytes_per_s, sum_bytes_per_s; /* per second */
};

/* Bytes that move for each value: an addition reads two and writes one; an update by SGD reads and
 * writes value and history, and reads the gradient. */
enum { PSD_WORKLOAD_SUM_BYTES = 12, PSD_WORKLOAD_UPDATE_BYTES = 20 };

/* The values of a workload, and the multiply-adds of a layer, at most. */
#define PSD_WORKLOAD_VALUES ((size_t)1 << 40)
#define PSD_WORKLOAD_MACS   1e18

/* A workload without layers; the caller owns *out until destroy. The name is copied. */
psd_status psd_workload_create(const char *name, size_t batch, struct psd_workload **out);
void psd_workload_destroy(struct psd_workload *workload);

/* Adds the next layer in forward order; the name is copied. */
psd_status psd_workload_add_layer(struct psd_workload *workload, const char *name, double macs);

/* Adds a parameter to the latest layer, one without factors; the caller may set factors and bias_of
 * of workload->params[workload->n_params - 1] afterwards. The name is copied. PSD_EINVAL: there is no
 * layer, a size is 0, or all values together are more than PSD_WORKLOAD_VALUES. */
psd_status psd_workload_add_param(struct psd_workload *workload, const char *name, size_t rows,
                                  size_t cols);

/* The multiply-adds of all layers, for one sample, forward. */
double psd_workload_macs(const struct psd_workload *workload);

#endif
