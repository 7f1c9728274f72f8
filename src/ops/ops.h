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
    PSD_OP_BATCH_NORM, /* x [batch][channels][inner] -> y, of the same shape, with a second output:
                            means and variances [2][channels]; global: these are the second input */
    PSD_OP_SCALE,      /* x [outer][channels][inner], factors [channels], b [channels] -> y */
    PSD_OP_BIAS,       /* x [outer][channels][inner], b [channels] -> y; may be in place */
    PSD_OP_ELTWISE,    /* a [count], b [count] -> y [count]; a sum may be in place of a */
    PSD_OP_LSTM_UNIT,  /* old cells [rows][outputs], gates [rows][4][outputs], cont [rows] ->
                            new cells and what is shown of them [2][rows][outputs] */
    PSD_OP_MAP,        /* x [count] -> y [count] */
    PSD_OP_PRELU,      /* x [outer][channels][inner], slopes [channels] -> y */
    PSD_OP_REDUCE,     /* x [rows][count] -> y [rows] */
    PSD_OP_DISTANCE_LOSS, /* a [batch][row], b [batch][row] -> loss [1] */
    PSD_OP_HINGE_LOSS,    /* x [batch][classes], labels [batch] -> loss [1] */
    PSD_OP_SIGMOID_LOSS,  /* x [batch][row], targets [batch][row] -> loss [1],
                             with a second output: the probabilities, as x */
    PSD_OP_COLUMNS,       /* x [batch][channels][size ...] -> what each tap sees of it,
                             y [batch][channels][kernel ...][out ...] */
    PSD_OP_CONV_ND,       /* x [batch][channels][size ...], w [outputs][channels/group][kernel ...],
                             b [outputs] -> y [batch][outputs][out ...] */
    PSD_OP_DECONV,        /* the way back: x [batch][outputs][out ...], w the same,
                             b [channels] -> y [batch][channels][size ...] */
    PSD_OP_KINDS
};

/* How many inputs and outputs an operation has at most. */
enum { PSD_OP_INPUTS = 3, PSD_OP_OUTPUTS = 2 };

/* How many axes a window slides along at most, where that is not two. */
enum { PSD_OP_AXES = 32 };

enum psd_pool_method { PSD_POOL_MAX, PSD_POOL_AVERAGE, PSD_POOL_STOCHASTIC };
enum psd_map_method {
    PSD_MAP_ABS,      /* |x|, whose slope at 0 is 0 */
    PSD_MAP_BNLL,     /* log(1 + exp(x)) */
    PSD_MAP_CLIP,     /* x, but at least a and at most b */
    PSD_MAP_ELU,      /* x > 0 ? x : a * (exp(x) - 1) */
    PSD_MAP_EXP,      /* exp(a * (c + b * x)) */
    PSD_MAP_LOG,      /* a * log(c + b * x) */
    PSD_MAP_POWER,    /* (c + b * x) ^ a */
    PSD_MAP_SIGMOID,  /* 1 / (1 + exp(-x)) */
    PSD_MAP_SWISH,    /* x / (1 + exp(-a * x)) */
    PSD_MAP_THRESHOLD /* x > a ? 1 : 0 */
};
enum psd_reduce_method { PSD_REDUCE_SUM, PSD_REDUCE_ASUM, PSD_REDUCE_SUMSQ, PSD_REDUCE_MEAN };
enum psd_eltwise_method { PSD_ELTWISE_SUM, PSD_ELTWISE_PRODUCT, PSD_ELTWISE_MAX };
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
        struct psd_batch_norm_spec {
            size_t batch, channels, inner;
            float eps;   /* added to variances before their root is taken */
            bool global; /* means and variances are given, not those of the batch */
        } batch_norm;
        struct psd_scale_spec {
            size_t outer, channels, inner;
            bool bias; /* there is a third input */
        } scale;
        struct psd_bias_spec {
            size_t outer, channels, inner;
        } bias;
        struct psd_eltwise_spec {
            enum psd_eltwise_method method;
            size_t count;
            float coefficient[2]; /* of a sum */
        } eltwise;
        struct psd_lstm_unit_spec {
            size_t rows, outputs;
        } lstm_unit;
        struct psd_map_spec {
            enum psd_map_method method;
            size_t count;
            float a, b, c; /* where the method has them */
        } map;
        struct psd_prelu_spec {
            size_t outer, channels, inner;
        } prelu;
        struct psd_reduce_spec {
            enum psd_reduce_method method;
            size_t rows, count;
            float coefficient;
        } reduce;
        struct psd_distance_loss_spec {
            size_t batch, row;
        } distance_loss;
        struct psd_hinge_loss_spec {
            size_t batch, classes;
            bool squares;
        } hinge_loss;
        struct psd_sigmoid_loss_spec {
            size_t batch, row;
            bool has_ignored; /* targets that do not count */
            int ignored;
            enum psd_loss_norm norm;
        } sigmoid_loss;
        struct psd_columns_spec { /* the numbers of a window: one for each axis */
            size_t batch, channels, axes;
            size_t size[PSD_OP_AXES], out[PSD_OP_AXES];
            size_t kernel[PSD_OP_AXES], stride[PSD_OP_AXES], pad[PSD_OP_AXES];
            size_t dilation[PSD_OP_AXES];
        } columns;
        struct psd_conv_nd_spec {
            struct psd_columns_spec window;
            size_t outputs, group;
            bool bias; /* there is a third input */
        } conv_nd, deconv;
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

/* The device it computes on. Borrowed until close. */
struct psd_device *psd_ops_device(const struct psd_ops *ops);

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

/* The operation for a convolution along any number of axes: CONV, which backends are fastest at, for
 * up to two, and else CONV_ND. */
struct psd_op_spec psd_op_conv(const struct psd_conv_nd_spec *conv);

/* How many floats each input and output of a spec that makes sense has; 0: there is none. */
size_t psd_op_input_count(const struct psd_op_spec *spec, unsigned input);
size_t psd_op_output_count(const struct psd_op_spec *spec, unsigned output);

#endif
