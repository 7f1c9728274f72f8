/* ops.h - the arithmetic: one table of operations, and several ways of doing each.
 *
 *     forward     inputs  x, w, b  -->  outputs y          keeps what backward will need
 *     backward    inputs, outputs, dy  -->  dx, dw, db     those that are wanted
 *
 *     psd_ops_open(&options, &ops);                  a device and a number of threads
 *     psd_op_create(ops, &spec, &op);                shapes are fixed; all planning happens here
 *     psd_op_forward(op, &values);                   nothing is allocated
 *     psd_op_backward(op, &values);                  the same, but for its first sum of gradients
 *
 * An operation knows shapes and numbers only; what a layer or a net is, it does not. `plain` does
 * every operation in simple loops and is the definition that the other backends are measured
 * against; one that cannot do a spec says PSD_ENOSUP, and the next in the list is asked.
 *
 * Which backend does an operation, and how, follows from the spec, the number of threads and the
 * instruction set, never from a measurement: the same numbers on every run. An operation belongs to
 * one thread at a time; the threads it computes with are its own business. */
#ifndef PSD_OPS_OPS_H
#define PSD_OPS_OPS_H

#include "base/status.h"
#include "device/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Floats somewhere in a device's memory. memory NULL: there is no such tensor. */
struct psd_tensor {
    struct psd_device_memory *memory; /* borrowed */
    size_t offset;                    /* of the first value, in floats */
};

/* Where the host finds them, on a device whose memory it can touch; NULL for no tensor. */
float *psd_tensor_host(struct psd_tensor tensor);

enum psd_op_kind {
    PSD_OP_CONV,         /* x [batch][channels][height][width], w [outputs][channels/group][kh][kw],
                            b [outputs] -> y [batch][outputs][out_height][out_width] */
    PSD_OP_POOL,         /* x [planes][height][width] -> y [planes][out_height][out_width]; with a
                            second output where one value wins: its place h * width + w, a float */
    PSD_OP_FC,           /* x [rows][inputs], w [outputs][inputs] (transposed: [inputs][outputs]),
                            b [outputs] -> y [rows][outputs] */
    PSD_OP_RELU,         /* x [count] -> y [count]; may be in place */
    PSD_OP_TANH,         /* the same */
    PSD_OP_LRN,          /* x [batch][channels][height][width] -> y, of the same shape */
    PSD_OP_DROPOUT,      /* x [count] -> y [count]; may be in place */
    PSD_OP_SOFTMAX,      /* x [outer][channels][inner] -> y, of the same shape; may be in place */
    PSD_OP_SOFTMAX_LOSS, /* x [outer][channels][inner], labels [outer][inner] -> loss [1],
                            with a second output: the probabilities, as x */
    PSD_OP_KINDS
};

/* How many inputs and outputs an operation has at most. */
enum { PSD_OP_INPUTS = 3, PSD_OP_OUTPUTS = 2 };

enum psd_pool_method { PSD_POOL_MAX, PSD_POOL_AVERAGE, PSD_POOL_STOCHASTIC };
enum psd_loss_norm { PSD_LOSS_FULL, PSD_LOSS_VALID, PSD_LOSS_BATCH_SIZE, PSD_LOSS_NONE };

/* What is to be computed. Two numbers in brackets are height and width. */
struct psd_op_spec {
    enum psd_op_kind kind;
    union {
        struct psd_conv_spec {
            size_t batch, channels, height, width, outputs, out_height, out_width, group;
            size_t kernel[2], stride[2], pad[2], dilation[2];
            bool bias; /* there is a third input */
        } conv;
        struct psd_pool_spec {
            enum psd_pool_method method;
            size_t planes, height, width, out_height, out_width;
            size_t kernel[2], stride[2], pad[2];
            bool train;      /* stochastic pooling draws, or else weighs */
            size_t channels; /* planes of one sample, which matters to draws; 0: all of them */
        } pool;
        struct psd_fc_spec {
            size_t rows, inputs, outputs;
            bool bias, transpose;
        } fc;
        struct psd_relu_spec {
            size_t count;
            float slope; /* y = x > 0 ? x : slope * x */
        } relu;
        struct psd_tanh_spec {
            size_t count;
        } tanh;
        struct psd_lrn_spec {
            size_t batch, channels, height, width;
            size_t size; /* channels, or the side of a square within a channel; odd */
            float alpha, beta, k;
            bool within; /* a channel, instead of across channels; k is then 1, as in Caffe */
        } lrn;
        struct psd_dropout_spec {
            size_t count, row; /* row: values of one sample */
            float ratio;       /* dropped; the others are scaled by 1 / (1 - ratio) */
        } dropout;
        struct psd_softmax_spec {
            size_t outer, channels, inner;
        } softmax;
        struct psd_softmax_loss_spec {
            size_t outer, channels, inner;
            bool has_ignored; /* labels that do not count */
            int ignored;
            enum psd_loss_norm norm;
        } softmax_loss;
    };
};

/* What it is computed from, and where the results go. Tensors that an operation does not have, or
 * whose result is not wanted, have no memory; forward wants at least the first output. In place
 * means that out[0] is in[0], and in backward that in_diff[0] is out_diff[0]; otherwise results
 * overlap nothing that they are computed from. The gradient of a loss has one float: its weight. */
struct psd_op_values {
    struct psd_tensor in[PSD_OP_INPUTS], in_diff[PSD_OP_INPUTS];
    struct psd_tensor out[PSD_OP_OUTPUTS], out_diff[PSD_OP_OUTPUTS];
    unsigned adds; /* bit i: backward adds to in_diff[i] instead of setting it */

    /* For operations that draw: the value for element e of sample n is a function of
     * (seed, stream, sample + n, e) alone. */
    uint64_t seed, stream, sample;
};

struct psd_pool;
struct psd_ops; /* an opened device with its backends and threads */
struct psd_op;  /* one operation, planned */

struct psd_ops_options {
    struct psd_device *device; /* borrowed; outlives the ops */
    unsigned threads;          /* that one operation computes with; 0 is 1 */
    const char *backend;       /* the only one to use beside plain; NULL: all, in their order */
};

/* Starts the threads. The caller owns *out until close. PSD_ECONFIG: there is no such backend;
 * PSD_ENOSUP: it cannot run here, or not on this device. */
psd_status psd_ops_open(const struct psd_ops_options *options, struct psd_ops **out);

/* Ends the threads, when all operations are destroyed. NULL is fine. */
void psd_ops_close(struct psd_ops *ops);

unsigned psd_ops_threads(const struct psd_ops *ops);

/* Those threads, for whoever has arithmetic of its own to share out. Borrowed until close. */
struct psd_pool *psd_ops_pool(const struct psd_ops *ops);

/* The names of the backends compiled in, in the order in which they are asked; ends with NULL. */
const char *const *psd_ops_backends(void);

/* Plans an operation. `spec` is copied; the caller owns *out until destroy. PSD_EINVAL: the spec
 * makes no sense. */
psd_status psd_op_create(struct psd_ops *ops, const struct psd_op_spec *spec, struct psd_op **out);

/* NULL is fine. */
void psd_op_destroy(struct psd_op *op);

/* The backend that does it: "onednn". */
const char *psd_op_backend(const struct psd_op *op);

/* Computes the outputs, and keeps in the operation what backward needs beyond `values`. A label
 * outside [0, channels) is PSD_ECONFIG. After a failure the outputs are undefined. */
psd_status psd_op_forward(struct psd_op *op, const struct psd_op_values *values);

/* Computes the wanted gradients of the inputs from those of the outputs; after the forward with the
 * same values. The inputs are as they were then, unless computed in place. Of the first outputs
 * only TANH and SOFTMAX read their own, so that of another kind may have been replaced by whoever
 * came next in place. In place RELU takes its output for its input, which has the same sign if
 * slope >= 0. */
psd_status psd_op_backward(struct psd_op *op, const struct psd_op_values *values);

/* How many floats each input and output of a spec that makes sense has; 0: there is none. */
size_t psd_op_input_count(const struct psd_op_spec *spec, unsigned input);
size_t psd_op_output_count(const struct psd_op_spec *spec, unsigned output);

#endif
