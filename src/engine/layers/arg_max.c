/* arg_max.c - ArgMax: where the largest values are, along an axis or in a whole sample.
 *
 *     without axis    top [batch][1][top_k]: places; with out_max_val [batch][2][top_k]: values, too;
 *                     axes of length 1 follow where the bottom has more than three
 *     with axis       the axis has the length top_k: places, or with out_max_val values instead
 *
 * Of equal values the later place comes first, as in Caffe; what is no number comes last. There is no
 * gradient. */
#include "base/alloc.h"
#include "engine/layer.h"

#include <math.h>
#include <stdlib.h>

struct entry {
    float value;
    size_t place;
};

struct state {
    size_t outer, length, inner; /* length: of what is compared */
    struct entry *entries;       /* owned; [length] */
};

static const Caffe__ArgMaxParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__ArgMaxParameter none = CAFFE__ARG_MAX_PARAMETER__INIT;
    return layer->param->argmax_param ? layer->param->argmax_param : &none;
}

static psd_status shape_top(struct psd_layer *layer, size_t axis)
{
    const Caffe__ArgMaxParameter *p = param_of(layer);
    struct psd_shape shape = layer->bottom[0]->shape;

    if (p->has_axis)
        shape.dim[axis] = p->top_k;
    else {
        shape.axes = shape.axes < 3 ? 3 : shape.axes;
        for (size_t i = 1; i < shape.axes; i++)
            shape.dim[i] = 1;
        shape.dim[1] = p->out_max_val ? 2 : 1;
        shape.dim[2] = p->top_k;
    }
    return psd_layer_shape_top(layer, 0, &shape);
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__ArgMaxParameter *p = param_of(layer);
    const struct psd_shape *shape = &layer->bottom[0]->shape;
    struct state *state = layer->state;
    size_t axis = 1;

    PSD_TRY(psd_layer_axis(layer, &p->base, 3, 0, p->has_axis ? p->axis : 0, &axis));
    state->outer = p->has_axis ? psd_shape_count(shape, 0, axis) : shape->dim[0];
    state->inner = p->has_axis ? psd_shape_count(shape, axis + 1, shape->axes) : 1;
    state->length = layer->bottom[0]->count / (state->outer * state->inner);
    if (p->top_k < 1 || p->top_k > state->length)
        return psd_layer_fail(layer, &p->base, 2, "top_k is %u; it is from 1 to %zu", p->top_k,
                              state->length);
    struct entry *entries = psd_alloc_resize(state->entries, state->length, sizeof *entries);
    if (!entries)
        return PSD_ENOMEM;
    state->entries = entries;
    return shape_top(layer, axis);
}

static int by_value(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (isnan(a->value) || isnan(b->value))
        return (isnan(a->value) != 0) - (isnan(b->value) != 0);
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return (a->place < b->place) - (a->place > b->place);
}

/* The k-th of what is compared at (outer, inner) goes where the shape has it. */
static void put(const struct psd_layer *layer, size_t outer, size_t inner, size_t k)
{
    const Caffe__ArgMaxParameter *p = param_of(layer);
    const struct state *state = layer->state;
    const struct entry *entry = &state->entries[k];
    float *top = psd_blob_values(layer->top[0]);
    size_t rows = !p->has_axis && p->out_max_val ? 2 : 1;

    if (p->has_axis)
        top[(outer * p->top_k + k) * state->inner + inner] =
            p->out_max_val ? entry->value : (float)entry->place;
    else {
        top[outer * rows * p->top_k + k] = (float)entry->place;
        if (rows == 2)
            top[(outer * rows + 1) * p->top_k + k] = entry->value;
    }
}

static psd_status forward(struct psd_layer *layer)
{
    const struct state *state = layer->state;
    const float *bottom = psd_blob_values(layer->bottom[0]);

    for (size_t n = 0; n < state->outer * state->inner; n++) {
        size_t outer = n / state->inner, inner = n % state->inner;
        for (size_t i = 0; i < state->length; i++)
            state->entries[i] =
                (struct entry){bottom[(outer * state->length + i) * state->inner + inner], i};
        qsort(state->entries, state->length, sizeof *state->entries, by_value);
        for (size_t k = 0; k < param_of(layer)->top_k; k++)
            put(layer, outer, inner, k);
    }
    return PSD_OK;
}

static void drop(struct psd_layer *layer)
{
    psd_alloc_free(((struct state *)layer->state)->entries);
}

const struct psd_layer_kind psd_layer_arg_max = {
    .type = "ArgMax",
    .about = "the places of the top_k largest values, or the values",
    .reads = "argmax_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .unlearned = 1,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
    .drop = drop,
};
