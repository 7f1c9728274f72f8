/* accuracy.c - Accuracy: how many labels are among the net's best guesses.
 *
 *     scores [outer][classes][inner], labels [outer][inner]  -->  the part that is right, in [0, 1]
 *                                                                 and, on request, for each class
 *
 * A label is right when fewer than top_k other classes score as high. A score that is no number
 * loses against all. The layer is for people to look at and has no gradient. */
#include "base/alloc.h"
#include "engine/layer.h"

#include <math.h>
#include <string.h>

/* Labels of one class, or of all: how many there were, and how many were right. */
struct tally {
    size_t seen, right;
};

struct state {
    size_t outer, classes, inner;
    struct tally *each; /* owned; a class each, used when there is a second top */
};

static const Caffe__AccuracyParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__AccuracyParameter none = CAFFE__ACCURACY_PARAMETER__INIT;
    return layer->param->accuracy_param ? layer->param->accuracy_param : &none;
}

static psd_status shape_each(struct psd_layer *layer)
{
    struct state *state = layer->state;
    struct psd_shape shape = psd_shape_of(1, state->classes, 0, 0, 0);
    struct tally *each = psd_alloc_resize(state->each, state->classes, sizeof *each);

    if (!each)
        return PSD_ENOMEM;
    state->each = each;
    return psd_layer_shape_top(layer, 1, &shape);
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__AccuracyParameter *p = param_of(layer);
    const struct psd_shape *shape = &layer->bottom[0]->shape, scalar = {0};
    struct state *state = layer->state;
    size_t axis;

    PSD_TRY(psd_layer_axis(layer, &p->base, 2, 0, p->axis, &axis));
    PSD_TRY(psd_layer_check_labels(layer, axis));
    state->outer = psd_shape_count(shape, 0, axis);
    state->classes = shape->dim[axis];
    state->inner = psd_shape_count(shape, axis + 1, shape->axes);
    if (p->top_k < 1 || p->top_k > state->classes)
        return psd_layer_fail(layer, &p->base, 1, "top_k is %u, but there are %zu classes",
                              p->top_k, state->classes);
    PSD_TRY(psd_layer_shape_top(layer, 0, &scalar));
    return layer->n_top > 1 ? shape_each(layer) : PSD_OK;
}

/* Whether fewer than top_k others score as high as the label; its scores are `inner` apart. */
static bool is_right(const struct state *state, const float *scores, size_t label, size_t top_k)
{
    float own = scores[label * state->inner];
    size_t better = 0;

    for (size_t c = 0; c < state->classes && better < top_k; c++)
        better += c != label && !(scores[c * state->inner] < own);
    return better < top_k;
}

static psd_status count_place(const struct psd_layer *layer, size_t place, struct tally *all)
{
    const Caffe__AccuracyParameter *p = param_of(layer);
    const struct state *state = layer->state;
    size_t sample = place / state->inner, at = place % state->inner;
    const float *scores =
        psd_blob_values(layer->bottom[0]) + sample * state->classes * state->inner + at;
    float label = psd_blob_values(layer->bottom[1])[place];

    if (p->has_ignore_label && truncf(label) == (float)p->ignore_label)
        return PSD_OK;
    if (!(label > -1 && label < (float)state->classes))
        return psd_layer_fail(layer, NULL, 0, "label %g is not one of the %zu classes",
                              (double)label, state->classes);
    bool right = is_right(state, scores, (size_t)label, p->top_k);
    all->seen++;
    all->right += right;
    if (state->each) {
        state->each[(size_t)label].seen++;
        state->each[(size_t)label].right += right;
    }
    return PSD_OK;
}

/* Without labels to judge by it is 0. */
static float part_of(struct tally tally)
{
    return tally.seen ? (float)tally.right / (float)tally.seen : 0;
}

static psd_status forward(struct psd_layer *layer)
{
    struct state *state = layer->state;
    struct tally all = {0, 0};

    if (state->each)
        memset(state->each, 0, state->classes * sizeof *state->each);
    for (size_t i = 0; i < state->outer * state->inner; i++)
        PSD_TRY(count_place(layer, i, &all));
    psd_blob_values(layer->top[0])[0] = part_of(all);
    for (size_t c = 0; state->each && c < state->classes; c++)
        psd_blob_values(layer->top[1])[c] = part_of(state->each[c]);
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    psd_alloc_free(((struct state *)layer->state)->each);
}

const struct psd_layer_kind psd_layer_accuracy = {
    .type = "Accuracy",
    .about = "the share of samples whose label is among the top_k largest scores",
    .reads = "accuracy_param",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 2,
    .unlearned = 1 << 0 | 1 << 1,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
    .drop = drop,
};
