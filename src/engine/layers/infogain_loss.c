/* infogain_loss.c - InfogainLoss: how surprised a net is by labels, some mistakes more than others.
 *
 *     scores [outer][classes][inner], labels [outer][inner], H [classes][classes]
 *
 *     p    = softmax(scores)
 *     loss = sum over the places: -(sum over c: H[label][c] * log(max(p_c, 1e-20))) / norm
 *     dx_c = (p_c * (sum of row H[label]) - H[label][c]) * dloss / norm
 *
 * H is the third bottom, or the BlobProto in the file `source`. A second top has the probabilities.
 * A place with the ignored label adds nothing, and its gradient is 0. */
#include "base/alloc.h"
#include "base/path.h"
#include "engine/layers/loss.h"
#include "engine/net.h"

#include <math.h>

struct state {
    size_t outer, classes, inner;
    struct psd_document *file; /* owned; NULL where H is a bottom */
    struct psd_blob own;       /* the probabilities, unless they are a top */
};

static const Caffe__InfogainLossParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__InfogainLossParameter none = CAFFE__INFOGAIN_LOSS_PARAMETER__INIT;
    return layer->param->infogain_loss_param ? layer->param->infogain_loss_param : &none;
}

/* --- H ---------------------------------------------------------------------------------------- */

static psd_status read_file(const struct psd_layer *layer, struct psd_document **out)
{
    const Caffe__InfogainLossParameter *p = param_of(layer);
    char *path = NULL;

    if (!p->source)
        return psd_layer_fail(layer, &p->base, 0,
                              "has no matrix; give its file as source, or a third bottom");
    psd_status status = psd_path_find(p->source, layer->net->document->path, &path);
    if (status == PSD_OK)
        status = psd_document_read(path, PSD_DOCUMENT_BINARY, &caffe__blob_proto__descriptor, out);
    psd_alloc_free(path);
    return status == PSD_ECONFIG ? psd_layer_fail(layer, &p->base, 1, "%s", psd_error()) : status;
}

static double weight_of(const struct psd_layer *layer, size_t label, size_t channel)
{
    const struct state *state = layer->state;
    size_t i = label * state->classes + channel;

    if (!state->file)
        return (double)psd_blob_values(layer->bottom[2])[i];
    const Caffe__BlobProto *blob = (const Caffe__BlobProto *)state->file->root;
    return blob->n_double_data ? blob->double_data[i] : (double)blob->data[i];
}

static psd_status check_matrix(const struct psd_layer *layer)
{
    const struct state *state = layer->state;
    const Caffe__BlobProto *blob = state->file ? (const Caffe__BlobProto *)state->file->root : NULL;
    size_t count = !blob                 ? layer->bottom[2]->count
                   : blob->n_double_data ? blob->n_double_data
                                         : blob->n_data;

    if (count % state->classes == 0 && count / state->classes == state->classes)
        return PSD_OK;
    return psd_layer_fail(layer, &param_of(layer)->base, 1,
                          "needs a matrix of %zu x %zu values for its classes, but it has %zu",
                          state->classes, state->classes, count);
}

static psd_status setup(struct psd_layer *layer)
{
    struct state *state = layer->state;

    psd_blob_init(&state->own, layer->net->device);
    return layer->n_bottom < 3 ? read_file(layer, &state->file) : PSD_OK;
}

/* --- shapes ----------------------------------------------------------------------------------- */

static struct psd_blob *probabilities(const struct psd_layer *layer)
{
    return layer->n_top > 1 ? layer->top[1] : &((struct state *)layer->state)->own;
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__InfogainLossParameter *p = param_of(layer);
    const struct psd_shape *shape = &layer->bottom[0]->shape, scalar = {0};
    struct state *state = layer->state;
    size_t axis;

    PSD_TRY(psd_layer_axis(layer, &p->base, 2, 0, p->axis, &axis));
    PSD_TRY(psd_layer_check_labels(layer, axis));
    state->outer = psd_shape_count(shape, 0, axis);
    state->classes = shape->dim[axis];
    state->inner = psd_shape_count(shape, axis + 1, shape->axes);
    PSD_TRY(check_matrix(layer));
    PSD_TRY(psd_layer_shape_top(layer, 0, &scalar));
    PSD_TRY(psd_blob_reshape(probabilities(layer), shape));
    struct psd_op_spec spec = {PSD_OP_SOFTMAX,
                               .softmax = {state->outer, state->classes, state->inner}};
    return psd_layer_plan(layer, 0, &spec);
}

/* --- passes ----------------------------------------------------------------------------------- */

/* Whether place i counts, and its label. */
static psd_status find_label(const struct psd_layer *layer, size_t i, bool *counts, size_t *label)
{
    const Caffe__LossParameter *p = layer->param->loss_param;
    float value = psd_blob_values(layer->bottom[1])[i];

    *counts = !(p && p->has_ignore_label && truncf(value) == (float)p->ignore_label);
    if (!*counts)
        return PSD_OK;
    return psd_layer_index(layer, "label", value, ((struct state *)layer->state)->classes, label);
}

static double norm_of(const struct psd_layer *layer, size_t valid)
{
    const struct state *state = layer->state;
    const double norms[] = {
        [PSD_LOSS_FULL] = (double)(state->outer * state->inner),
        [PSD_LOSS_VALID] = valid ? (double)valid : 1,
        [PSD_LOSS_BATCH_SIZE] = (double)state->outer,
        [PSD_LOSS_NONE] = 1,
    };
    return norms[psd_loss_norm(layer->param->loss_param, PSD_LOSS_VALID)];
}

/* Where the probability of channel 0 at place i is; the others are `inner` apart. */
static size_t column_at(const struct state *state, size_t i)
{
    return i / state->inner * state->classes * state->inner + i % state->inner;
}

static double cost(const struct psd_layer *layer, size_t i, size_t label)
{
    const struct state *state = layer->state;
    const float *p = psd_blob_values(probabilities(layer)) + column_at(state, i);
    double sum = 0;

    for (size_t c = 0; c < state->classes; c++) {
        double probability = (double)p[c * state->inner];
        sum -= weight_of(layer, label, c) * log(probability < 1e-20 ? 1e-20 : probability);
    }
    return sum;
}

static psd_status forward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    struct psd_op_values values = {.in = {psd_blob_data(layer->bottom[0])},
                                   .out = {psd_blob_data(probabilities(layer))}};
    size_t valid = 0, label = 0;
    bool counts = false;
    double sum = 0;

    PSD_TRY(psd_op_forward(layer->ops[0], &values));
    for (size_t i = 0; i < state->outer * state->inner; i++) {
        PSD_TRY(find_label(layer, i, &counts, &label));
        valid += counts;
        if (counts)
            sum += cost(layer, i, label);
    }
    psd_blob_values(layer->top[0])[0] = (float)(sum / norm_of(layer, valid));
    return PSD_OK;
}

static void put_gradient(const struct psd_layer *layer, size_t i, size_t label, double factor)
{
    const struct state *state = layer->state;
    size_t first = column_at(state, i);
    const float *p = psd_blob_values(probabilities(layer)) + first;
    float *to = psd_blob_gradient(layer->bottom[0]) + first;
    double all = 0;

    for (size_t c = 0; c < state->classes; c++)
        all += weight_of(layer, label, c);
    for (size_t c = 0; c < state->classes; c++)
        to[c * state->inner] =
            (float)(((double)p[c * state->inner] * all - weight_of(layer, label, c)) * factor);
}

static psd_status backward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    size_t valid = 0, label = 0, places = state->outer * state->inner;
    bool counts = false;

    for (size_t i = 0; i < places; i++) {
        PSD_TRY(find_label(layer, i, &counts, &label));
        valid += counts;
    }
    double factor = (double)psd_blob_gradient(layer->top[0])[0] / norm_of(layer, valid);
    for (size_t i = 0; layer->propagates[0] && i < places; i++) {
        PSD_TRY(find_label(layer, i, &counts, &label));
        put_gradient(layer, i, counts ? label : 0, counts ? factor : 0);
    }
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    struct state *state = layer->state;

    psd_document_destroy(state->file);
    psd_blob_fini(&state->own);
}

const struct psd_layer_kind psd_layer_infogain_loss = {
    .type = "InfogainLoss",
    .about = "the log loss of a softmax, each label weighed by a row of a matrix",
    .reads = "infogain_loss_param, loss_param, softmax_param",
    .bottoms = 2,
    .most_bottoms = 3,
    .tops = 1,
    .most_tops = 2,
    .makes_tops = true,
    .is_loss = true,
    .keeps_tops = true,
    .unlearned = 1 << 1 | 1 << 2,
    .state_size = sizeof(struct state),
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
    .drop = drop,
};
