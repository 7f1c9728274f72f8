/* net.h - layers in their order, and the blobs between them.
 *
 *     document --> filter by phase --> split shared blobs --> layers, blobs, parameters
 *
 *     psd_net_create(&options, &net);
 *     psd_net_forward(net, &loss);    first layer to last; need_value before a parameter's first use
 *     psd_net_backward(net, true);    last to first; gradient_ready after a parameter's last use
 *
 * The net knows nothing of solvers or of other machines: whoever wants to send a gradient on its way,
 * or to wait for a value, hangs a function into the hooks. A net belongs to one thread at a time;
 * the threads it computes with are those of its ops. */
#ifndef PSD_ENGINE_NET_H
#define PSD_ENGINE_NET_H

#include "base/log.h"
#include "data/bad.h"
#include "engine/layer.h"
#include "engine/stand_in.h"

/* Called on the net's thread while it computes; a failure ends the pass. NULL slots are skipped. */
struct psd_net_hooks {
    void *context;

    /* Before the first use of the parameter in a forward pass: returns when its value is fresh. */
    psd_status (*need_value)(void *context, struct psd_param *param);

    /* After the last use of the parameter in a backward pass: its gradient is complete. */
    psd_status (*gradient_ready)(void *context, struct psd_param *param);

    /* Whether the gradient of this parameter is wanted as factors: u [batch][rows] and
     * v [batch][cols], whose product over the batch it is. The layer then builds no gradient, and
     * gradient_ready is not called. */
    bool (*wants_factors)(void *context, const struct psd_param *param);
    psd_status (*factors_ready)(void *context, struct psd_param *param, struct psd_tensor u,
                                struct psd_tensor v, size_t batch);

    /* After each layer's forward, and after its backward; for whoever holds a clock. */
    void (*passed)(void *context, const struct psd_layer *layer, bool backward);
};

/* Whose samples the next passes work on: those of the logical workers `workers` in turn, one pass
 * each, and then those of the next iteration. A field left zero takes its default. */
struct psd_net_position {
    uint64_t iteration;
    const unsigned *workers; /* rising; borrowed until the next seek; NULL: worker 0 alone */
    unsigned n_workers;
    unsigned turn; /* which of them is next */
    unsigned of;   /* logical workers in the whole job; default: 1 */
    uint64_t
        stride; /* iterations from a round to the next, for nets that share a test; default: 1 */

    /* Samples of all workers in an iteration; where they cannot be equal the first have one more.
     * Default: `of` times our batch. */
    size_t global_batch;
};

/* Of all parameters, for debug_info: sums of absolute values and of squares. */
struct psd_net_norms {
    double data_l1, data_l2, diff_l1, diff_l2;
};

struct psd_net_options {
    struct psd_document *document; /* borrowed; outlives the net, and is changed by it (splits) */
    Caffe__NetParameter *net;      /* in that document; NULL: its root */
    Caffe__Phase phase;
    int level;
    const char *const *stages; /* borrowed for the call; ends with NULL; NULL: none */
    struct psd_ops *ops;       /* borrowed; outlives the net */
    struct psd_device *device; /* borrowed; outlives the net */
    uint64_t seed;
    struct psd_log *log; /* borrowed; NULL: silent */
    const struct psd_net
        *share; /* uses the parameters of this net, by layer name; it outlives us */

    /* Another net of the same document, for other workers at the same time: parameters look at the
     * values of that net's, with gradients of their own. What the net is made of (document, net,
     * phase, level, stages, share, seed, plugins) is that net's; it outlives us. */
    const struct psd_net *twin_of;

    /* Whoever runs the net lends the gradients of its parameters (psd_blob_share_diff) before each
     * backward; the net has none. One that goes out as factors needs no lender. */
    bool borrows_gradients;

    /* Gradients are wanted of all that can have one, inputs included, also without a loss: those of
     * outputs may come from outside. propagate_down: false holds, other than with force_backward. */
    bool all_gradients;

    struct psd_net_position position; /* of the first forward */
    size_t batch; /* samples of a pass; default: the twin's, or as the prototxt says */
    struct psd_net_hooks hooks;
    struct psd_bad_limit max_bad;      /* records that data layers may leave out */
    const struct psd_plugins *plugins; /* layers from outside; borrowed; NULL: none */
    bool debug_info; /* logs how large everything is in each pass, also where the net says so */

    /* What stands in for layers that read files; borrowed for the call; NULL: they read them. */
    const struct psd_stand_in *stand_in;

    /* Only layers and shapes are wanted: parameters are not filled, operations not planned, and the
     * memory of blobs is never touched, so that it takes next to none. Such a net computes nothing. */
    bool sketch;
};

struct psd_net {
    struct psd_document *document; /* borrowed */
    Caffe__NetParameter *param;    /* in it, filtered and split */
    Caffe__Phase phase;
    struct psd_ops *ops;
    struct psd_device *device;
    uint64_t seed;
    struct psd_log *log;
    struct psd_net_hooks hooks;
    struct psd_bad_limit max_bad;
    struct psd_net_position position;  /* of the next forward */
    struct psd_net_position pass;      /* of the latest, and of its backward */
    size_t batch;                      /* samples of a pass; 0: as the prototxt says */
    const struct psd_plugins *plugins; /* borrowed */
    bool debug_info;
    struct psd_net_norms norms; /* of the latest backward, with debug_info */
    float loss_scale;           /* gradients are those of so many times the loss; 1 at first */
    bool sketch;                /* has layers and shapes alone */
    bool reshaped; /* in this pass a layer has changed the shape of a top: those after it follow */

    size_t n_layers, n_blobs, n_params, n_outputs;
    struct psd_layer *layers;    /* owned */
    struct psd_blob *blobs;      /* owned */
    const char **blob_names;     /* owned array; names are the document's */
    bool *blob_needs_diff;       /* owned */
    bool *diff_given;            /* owned; psd_net_give_diff */
    struct psd_param **params;   /* owned array; each owned unless the net shares another's */
    const struct psd_net *share; /* borrowed */
    const struct psd_net *twin;  /* borrowed; has the values of our parameters; NULL: we do */
    bool borrows_gradients, all_gradients;
    size_t *outputs;       /* owned; blobs that nobody reads, by name as Caffe has them */
    size_t *output_counts; /* owned; values of each that are looked at */
};

/* Builds a net. PSD_ECONFIG: the sentence has the place in the prototxt. */
psd_status psd_net_create(const struct psd_net_options *options, struct psd_net **out);
void psd_net_destroy(struct psd_net *net);

/* The layer or blob of that name; NULL when there is none. Borrowed. */
struct psd_layer *psd_net_layer(const struct psd_net *net, const char *name);
struct psd_blob *psd_net_blob(const struct psd_net *net, const char *name);

/* Where a layer in place has made a blob of its own, there are several of one name. They are then one
 * to the user: forward begins with the first and ends with the last, backward the other way round. */
enum psd_net_end { PSD_NET_FIRST, PSD_NET_LAST };

/* The blob of that name, or the parameter called "layer[index]". PSD_ECONFIG: there is none; the
 * sentence has the nearest. */
psd_status psd_net_find(const struct psd_net *net, const char *name, enum psd_net_end end,
                        struct psd_blob **out);

/* The layer that fills the blob: its maker, not those that change it in place afterwards. NULL for a
 * parameter. */
const struct psd_layer *psd_net_maker(const struct psd_net *net, const struct psd_blob *blob);

/* The loss weight of a blob; 0 for what is no loss. */
float psd_net_loss_weight(const struct psd_net *net, size_t blob);

/* Samples of a pass: the first axis of the first blob that is not learned. */
size_t psd_net_samples(const struct psd_net *net);

/* From now on only the first most[i] values of output i count, for nets that are looked at together with
 * those of other batches. */
void psd_net_limit_outputs(struct psd_net *net, const size_t *most);

/* How many floats output i has, and all together, all samples counted; and the outputs of the latest pass,
 * one after the other, with zeros in the place of samples that were left out. */
size_t psd_net_output_size(const struct psd_net *net, size_t i);
size_t psd_net_count_outputs(const struct psd_net *net);
void psd_net_get_outputs(const struct psd_net *net, float *out);

/* The next forward works on these samples. Seeking to where the net is costs nothing. PSD_ECONFIG: there
 * are too few samples for all workers; PSD_EINVAL: the position makes no sense for this net. */
psd_status psd_net_seek(struct psd_net *net, const struct psd_net_position *position);

/* The logical worker of a position. */
unsigned psd_net_worker(const struct psd_net_position *position);

/* Whether workers of a job read sources of their own (shared_file_system: false): where a worker is,
 * its source has to be, and there are as many workers as sources. */
bool psd_net_is_pinned(const struct psd_net *net);

/* The batch that the latest forward works on, and that of the next, counted over all iterations and
 * workers. */
uint64_t psd_net_batch(const struct psd_net *net);
uint64_t psd_net_next_batch(const struct psd_net *net);

/* Where the latest forward's samples stand, if the net has `rows` rows for them, among the rows of all
 * workers in all iterations. With equal seeds a sample's number decides what is
 * drawn for it, whoever has it. */
uint64_t psd_net_row(const struct psd_net *net, size_t rows);

/* Lets all layers follow after somebody has given an Input layer's top another shape. */
psd_status psd_net_reshape(struct psd_net *net);

/* Computes all tops; *loss, if not NULL, is the sum of the tops by their loss weights. Afterwards it is
 * the next worker's turn, or the next iteration. */
psd_status psd_net_forward(struct psd_net *net, float *loss);

/* Computes all gradients. With `clear` the first gradient of each parameter replaces what was there;
 * without it is added, as for a pass that continues a batch. */
psd_status psd_net_backward(struct psd_net *net, bool clear);

/* Says that whoever runs the net puts the gradient of this blob there before each backward, also where
 * it has a loss weight. */
void psd_net_give_diff(struct psd_net *net, const struct psd_blob *blob);

/* Gives layers the weights of those of the same name. Layers that the net does not have are told to
 * the log ("Ignoring source layer x"), and a file that has weights for none. PSD_ECONFIG: shapes
 * differ. */
psd_status psd_net_load(struct psd_net *net, const struct psd_document *weights);

/* The same from a file, which is brought up to date first, or is one of HDF5 (net_hdf5.h). */
psd_status psd_net_load_file(struct psd_net *net, const char *path);

/* Adds the net with its weights to an empty document of a NetParameter. `diffs` [n_params] are written as
 * their gradients; NULL: none are. */
psd_status psd_net_save(const struct psd_net *net, float *const *diffs,
                        struct psd_document *document);

/* The same, without gradients, as a binary file, which appears whole or not at all. */
psd_status psd_net_save_file(const struct psd_net *net, const char *path);

/* Bytes of all parameters: what a document of them needs. */
uint64_t psd_net_weight_bytes(const struct psd_net *net);

#endif
