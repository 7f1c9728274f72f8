/* layer.h - the contract between a net and a layer, for whoever writes the next one.
 *
 *     net                                    layers/convolution.c, layers/pooling.c, ...
 *     blobs, order, who needs a       -->    struct psd_layer_kind: checks, shapes, computes
 *     gradient, parameters
 *
 *     setup      once: reads the layer's parameters, adds the blobs it learns
 *     reshape    after setup, and when a bottom changes its shape: shapes of tops, operations
 *     forward    tops from bottoms          backward    gradients of bottoms and parameters
 *
 * Most layers are one operation (ops/ops.h) over bottom, parameters and top: their reshape plans it
 * with psd_layer_plan, and forward and backward are psd_layer_op_forward and psd_layer_op_backward.
 *
 * To add one, write layers/<name>.c, declare its kind below and add its line to layers.c. A layer
 * belongs to its net's thread. */
#ifndef PSD_ENGINE_LAYER_H
#define PSD_ENGINE_LAYER_H

#include "engine/blob.h"
#include "proto/caffe.pb-c.h"
#include "proto/document.h"

struct psd_net;
struct psd_layer;

/* A parameter of a net: what it learns. Layers that share one by name share this structure. */
struct psd_param {
    char *name;               /* owned; as given, or "conv1[0]" */
    struct psd_blob blob;     /* value and gradient */
    float rate, decay;        /* multipliers of learning rate and weight decay */
    bool has_rate, has_decay; /* a prototxt gives them, so that sharers must agree */
    bool learns;              /* its rate is not 0 */
    bool fresh;           /* no gradient yet in this pass: the first is set, the others are added */
    bool goes_as_factors; /* of a job whose gradients of it are factors; for snapshots */
    bool factored;        /* in this pass its gradient went out as factors, and there is no other */
    unsigned uses, left;  /* layers that use it; those whose backward is still to come */
    size_t layer, index;  /* the layer that made it, and its place there */
    size_t number;        /* its place among the parameters of the net */
};

/* How what a layer carries from one pass to the next becomes one thing of several workers. */
enum psd_carry {
    PSD_CARRY_AVERAGED, /* the mean over all workers is everybody's next value (BatchNorm) */
    PSD_CARRY_OWN,      /* each worker has its own, which goes where the worker goes (LSTM) */
};

/* Values that a forward reads and changes, beside parameters that learn. Between two passes whoever
 * hosts several workers, or makes a snapshot, may take them and put others there. */
struct psd_carried {
    enum psd_carry kind;
    struct psd_blob *blob; /* borrowed; the layer's or a parameter's */
};

enum { PSD_LAYER_ANY = 1000 }; /* bottoms or tops without limit */

struct psd_layer_kind {
    const char *type; /* "Convolution", as prototxts write it */

    /* For the catalogue (poseidon layers): what it computes; the fields of a layer that it reads, and what
     * it carries from pass to pass, or NULL. */
    const char *about, *reads, *carries;

    unsigned bottoms, most_bottoms; /* at least, at most */
    unsigned tops, most_tops;
    bool as_many_tops; /* there must be as many tops as bottoms */
    bool makes_tops;   /* tops up to `tops` that are not named are made by the net (loss layers) */
    bool is_loss;      /* its first top has the weight 1 unless told otherwise */
    bool may_be_in_place; /* its top may have the name of its bottom */
    bool keeps_signs;     /* what is above 0 stays so, or gets no gradient, and nothing else comes
                             above 0: it may overwrite the result of a ReLU, which asks that result
                             for the signs of its input; others get a top of their own */
    bool keeps_tops;      /* nobody may work on its tops in place: its backward reads them, it fills
                             them only once, or their memory is others' too */
    bool gives_factors;   /* the gradient of parameter 0 is the product of top diff and bottom */
    bool takes_empty;     /* its functions can do with bottoms that have no samples; for others, see
                             psd_layer_run_reshape */
    bool varies;      /* its forward may give its tops another shape, and then sets net->reshaped */
    bool takes_batch; /* its tops have psd_net_options.batch samples, where that is given */
    unsigned unlearned;  /* bit i: bottom i gets no gradient (labels) */
    bool last_unlearned; /* the last bottom gets none, whichever it is */

    size_t state_size; /* bytes of layer->state, zeroed before setup */

    /* May read layer->param, bottoms' shapes, and add parameters. NULL: nothing to do. */
    psd_status (*setup)(struct psd_layer *layer);

    /* Gives the tops their shapes and plans the operations. Never NULL. */
    psd_status (*reshape)(struct psd_layer *layer);

    /* Computes the tops. Never NULL. */
    psd_status (*forward)(struct psd_layer *layer);

    /* Computes the gradients of the bottoms with layer->propagates[i], and those of the parameters
     * that learn. NULL: the layer has no gradients to give. */
    psd_status (*backward)(struct psd_layer *layer);

    /* Frees what hangs off layer->state. NULL: nothing. */
    void (*drop)(struct psd_layer *layer);

    /* Somebody has given the net another position; a data layer seeks. NULL: nothing to do. */
    psd_status (*seek)(struct psd_layer *layer);

    /* Multiply-adds of one forward, of the whole batch. NULL: too few to count. */
    double (*macs)(const struct psd_layer *layer);
};

struct psd_layer {
    const struct psd_layer_kind *kind;
    struct psd_net *net;                /* borrowed; owns us */
    const Caffe__LayerParameter *param; /* borrowed from the net's document */
    const char *name;                   /* borrowed from param */
    size_t index;                       /* in the net, in forward order */

    size_t n_bottom, n_top, n_params;
    struct psd_blob **bottom, **top; /* arrays owned, blobs the net's */
    size_t *bottom_id, *top_id;      /* owned; the blobs' places in the net */
    struct psd_param **params;       /* array owned, parameters the net's */
    bool *propagates;                /* owned; which bottoms get a gradient */
    float *loss_weight;              /* owned; of each top */
    bool backward_needed;
    bool
        varies; /* it is one, or comes after one, whose number of samples changes from pass to pass */
    bool pins; /* each worker of a job reads a source of its own here */

    struct psd_carried *carried; /* owned; what goes from pass to pass */
    size_t n_carried;

    struct psd_op **ops; /* owned; one for each bottom of kinds with as_many_tops, else one */
    size_t n_ops;
    void *state; /* owned; the kind's own */
};

/* --- for kinds ------------------------------------------------------------------------------ */

/* Fails with "file:line:column: layer conv1: sentence"; `field` of `message` tells the place: 0 is
 * the message itself, and message NULL the layer. */
__attribute__((format(printf, 4, 5))) psd_status psd_layer_fail(const struct psd_layer *layer,
                                                                const ProtobufCMessage *message,
                                                                unsigned field, const char *format,
                                                                ...);

/* Gives the sentence of a failed allocation the layer and its place, as psd_layer_fail does, since sizes come
 * from the net's file. Returns `status`, whatever it is. */
psd_status psd_layer_blame(const struct psd_layer *layer, psd_status status);

/* Which axis of bottom `bottom` the parameter `field` of `message` means by `index`. */
psd_status psd_layer_axis(const struct psd_layer *layer, const ProtobufCMessage *message,
                          unsigned field, size_t bottom, int index, size_t *out);

/* "ip1" of shape 64 500 (32000) from layer ip1: a bottom in a sentence about shapes. */
const char *psd_layer_bottom_text(const struct psd_layer *layer, size_t bottom, char *out,
                                  size_t room);

/* Fails unless the bottom has that many axes, four for images. */
psd_status psd_layer_check_axes(const struct psd_layer *layer, size_t bottom, size_t axes);

/* Fails unless bottom 1 has a label for each place of bottom 0, whose classes are on `axis`. */
psd_status psd_layer_check_labels(const struct psd_layer *layer, size_t axis);

/* The whole number that a value of a blob stands for, cut and not rounded; fails unless it is below
 * `count`. `what` is its name in the sentence: "label". */
psd_status psd_layer_index(const struct psd_layer *layer, const char *what, float value,
                           size_t count, size_t *out);

/* A shape as a prototxt gives it; fails where a dim is not at least 1. */
psd_status psd_layer_read_shape(const struct psd_layer *layer, const Caffe__BlobShape *from,
                                struct psd_shape *out);

/* Gives a top its shape; fails when it is too large. */
psd_status psd_layer_shape_top(struct psd_layer *layer, size_t top, const struct psd_shape *shape);

/* Adds the next parameter, or joins the one that the net has under the name that the prototxt gives
 * it. `filler` NULL: zero. */
psd_status psd_layer_add_param(struct psd_layer *layer, const struct psd_shape *shape,
                               const Caffe__FillerParameter *filler);

/* Adds the next parameter as one that is measured, not learned: it starts with 0, its rate is 0,
 * and it is carried as an average, unless it is another net's. */
psd_status psd_layer_add_statistic(struct psd_layer *layer, const struct psd_shape *shape);

/* Where a backward adds what it has to the gradient of parameter `index`: all zero before its first
 * use in a pass that starts afresh. NULL: it is not wanted. */
float *psd_layer_param_gradient(struct psd_layer *layer, size_t index);

/* Says that `blob`, which stays where it is, is carried from pass to pass. */
psd_status psd_layer_carry(struct psd_layer *layer, enum psd_carry kind, struct psd_blob *blob);

/* Plans the layer's operation number `i`, dropping an earlier one. */
psd_status psd_layer_plan(struct psd_layer *layer, size_t i, const struct psd_op_spec *spec);

/* What the layer's operation number `i` works on. Its inputs are the bottoms (with as_many_tops: the
 * i-th alone) and then the parameters, its outputs the tops (or the i-th). */
struct psd_op_values psd_layer_values(const struct psd_layer *layer, size_t i);

psd_status psd_layer_op_forward(struct psd_layer *layer);
psd_status psd_layer_op_backward(struct psd_layer *layer);

/* The stream of random numbers of this layer; `purpose` keeps two uses in one layer apart. */
uint64_t psd_layer_stream(const struct psd_layer *layer, unsigned purpose);

/* Sets seed, stream and sample for what the layer draws in this pass, forward and backward alike; `rows`
 * is how many samples it sees in one pass. */
void psd_layer_draw(const struct psd_layer *layer, unsigned purpose, size_t rows,
                    struct psd_op_values *values);

/* Whether it is the phase TRAIN. */
bool psd_layer_trains(const struct psd_layer *layer);

/* --- for nets --------------------------------------------------------------------------------- */

/* What the kind's functions do; but a layer whose first bottom has no samples makes none either. What
 * it makes for a whole batch, such as a loss, is then 0, and so are the gradients it has to give. */
psd_status psd_layer_run_reshape(struct psd_layer *layer);
psd_status psd_layer_run_forward(struct psd_layer *layer);
psd_status psd_layer_run_backward(struct psd_layer *layer);

/* --- the kinds -------------------------------------------------------------------------------- */

/* The kind of that type; NULL when there is none. */
const struct psd_layer_kind *psd_layers_find(const char *type);

/* All of them, for suggestions and lists; ends with NULL. */
extern const struct psd_layer_kind *const psd_layers[];

extern const struct psd_layer_kind psd_layer_absval;
extern const struct psd_layer_kind psd_layer_accuracy;
extern const struct psd_layer_kind psd_layer_arg_max;
extern const struct psd_layer_kind psd_layer_batch_norm;
extern const struct psd_layer_kind psd_layer_batch_reindex;
extern const struct psd_layer_kind psd_layer_bias;
extern const struct psd_layer_kind psd_layer_bnll;
extern const struct psd_layer_kind psd_layer_clip;
extern const struct psd_layer_kind psd_layer_concat;
extern const struct psd_layer_kind psd_layer_contrastive_loss;
extern const struct psd_layer_kind psd_layer_convolution;
extern const struct psd_layer_kind psd_layer_crop;
extern const struct psd_layer_kind psd_layer_data;
extern const struct psd_layer_kind psd_layer_deconvolution;
extern const struct psd_layer_kind psd_layer_dropout;
extern const struct psd_layer_kind psd_layer_dummy_data;
extern const struct psd_layer_kind psd_layer_eltwise;
extern const struct psd_layer_kind psd_layer_elu;
extern const struct psd_layer_kind psd_layer_embed;
extern const struct psd_layer_kind psd_layer_euclidean_loss;
extern const struct psd_layer_kind psd_layer_exp;
extern const struct psd_layer_kind psd_layer_filter;
extern const struct psd_layer_kind psd_layer_flatten;
extern const struct psd_layer_kind psd_layer_hdf5_data;
extern const struct psd_layer_kind psd_layer_hdf5_output;
extern const struct psd_layer_kind psd_layer_hinge_loss;
extern const struct psd_layer_kind psd_layer_im2col;
extern const struct psd_layer_kind psd_layer_infogain_loss;
extern const struct psd_layer_kind psd_layer_inner_product;
extern const struct psd_layer_kind psd_layer_input;
extern const struct psd_layer_kind psd_layer_log;
extern const struct psd_layer_kind psd_layer_lrn;
extern const struct psd_layer_kind psd_layer_lstm;
extern const struct psd_layer_kind psd_layer_lstm_unit;
extern const struct psd_layer_kind psd_layer_memory_data;
extern const struct psd_layer_kind psd_layer_multinomial_logistic_loss;
extern const struct psd_layer_kind psd_layer_mvn;
extern const struct psd_layer_kind psd_layer_parameter;
extern const struct psd_layer_kind psd_layer_pooling;
extern const struct psd_layer_kind psd_layer_power;
extern const struct psd_layer_kind psd_layer_prelu;
extern const struct psd_layer_kind psd_layer_reduction;
extern const struct psd_layer_kind psd_layer_relu;
extern const struct psd_layer_kind psd_layer_reshape;
extern const struct psd_layer_kind psd_layer_rnn;
extern const struct psd_layer_kind psd_layer_scale;
extern const struct psd_layer_kind psd_layer_sigmoid;
extern const struct psd_layer_kind psd_layer_sigmoid_cross_entropy_loss;
extern const struct psd_layer_kind psd_layer_silence;
extern const struct psd_layer_kind psd_layer_slice;
extern const struct psd_layer_kind psd_layer_softmax;
extern const struct psd_layer_kind psd_layer_softmax_with_loss;
extern const struct psd_layer_kind psd_layer_split;
extern const struct psd_layer_kind psd_layer_spp;
extern const struct psd_layer_kind psd_layer_swish;
extern const struct psd_layer_kind psd_layer_tanh;
extern const struct psd_layer_kind psd_layer_threshold;
extern const struct psd_layer_kind psd_layer_tile;

#endif
