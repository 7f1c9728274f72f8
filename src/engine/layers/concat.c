/* concat.c - Concat: bottoms, one after the other along an axis.
 *
 *     bottom 0 [outer][a][inner]   bottom 1 [outer][b][inner]   -->   top [outer][a + b][inner]
 *
 * Each sample of a bottom is a row that is copied to its place in the top's, and gradients back. */
#include "engine/layer.h"

#include <string.h>

struct state {
    size_t axis;
};

/* `concat_dim` is the older way to say it. */
static psd_status find_axis(const struct psd_layer *layer, size_t *axis)
{
    const Caffe__ConcatParameter *p = layer->param->concat_param;

    if (p && p->has_concat_dim && p->has_axis)
        return psd_layer_fail(layer, &p->base, 1, "concat_dim is the old name of axis; give one");
    if (p && p->has_concat_dim)
        return psd_layer_axis(layer, &p->base, 1, 0,
                              p->concat_dim > PSD_BLOB_AXES ? PSD_BLOB_AXES : (int)p->concat_dim,
                              axis);
    return psd_layer_axis(layer, p ? &p->base : NULL, 2, 0, p ? p->axis : 1, axis);
}

static bool fits(const struct psd_shape *a, struct psd_shape b, size_t axis)
{
    if (a->axes == b.axes)
        b.dim[axis] = a->dim[axis];
    return psd_shape_same(a, &b);
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_shape shape = layer->bottom[0]->shape;
    struct state *state = layer->state;
    char first[300], other[300];

    PSD_TRY(find_axis(layer, &state->axis));
    for (size_t i = 1; i < layer->n_bottom; i++) {
        if (!fits(&layer->bottom[0]->shape, layer->bottom[i]->shape, state->axis))
            return psd_layer_fail(layer, NULL, 0,
                                  "bottoms differ in axis %zu alone, but it reads %s and %s",
                                  state->axis, psd_layer_bottom_text(layer, 0, first, sizeof first),
                                  psd_layer_bottom_text(layer, i, other, sizeof other));
        shape.dim[state->axis] += layer->bottom[i]->shape.dim[state->axis];
    }
    return psd_layer_shape_top(layer, 0, &shape);
}

static size_t axis_of(const struct psd_layer *layer)
{
    return ((const struct state *)layer->state)->axis;
}

/* The length of a row, from the axis on, and how many rows there are. */
static size_t row_of(const struct psd_layer *layer, const struct psd_blob *blob)
{
    return psd_shape_count(&blob->shape, axis_of(layer), blob->shape.axes);
}

static size_t rows_of(const struct psd_layer *layer)
{
    return psd_shape_count(&layer->top[0]->shape, 0, axis_of(layer));
}

static psd_status forward(struct psd_layer *layer)
{
    float *to = psd_blob_values(layer->top[0]);
    size_t all = row_of(layer, layer->top[0]);

    for (size_t i = 0; i < layer->n_bottom; i++) {
        const float *from = psd_blob_values(layer->bottom[i]);
        size_t row = row_of(layer, layer->bottom[i]);
        for (size_t n = 0; n < rows_of(layer); n++)
            memcpy(to + n * all, from + n * row, row * sizeof *to);
        to += row;
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const float *from = psd_blob_gradient(layer->top[0]);
    size_t all = row_of(layer, layer->top[0]);

    for (size_t i = 0; i < layer->n_bottom; i++) {
        float *to = psd_blob_gradient(layer->bottom[i]);
        size_t row = row_of(layer, layer->bottom[i]);
        for (size_t n = 0; layer->propagates[i] && n < rows_of(layer); n++)
            memcpy(to + n * row, from + n * all, row * sizeof *to);
        from += row;
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_concat = {
    .type = "Concat",
    .about = "the bottoms one after the other along an axis",
    .reads = "concat_param",
    .bottoms = 1,
    .most_bottoms = PSD_LAYER_ANY,
    .tops = 1,
    .most_tops = 1,
    .takes_empty = true,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
