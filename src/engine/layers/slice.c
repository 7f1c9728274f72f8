/* slice.c - Slice: a bottom is cut into its tops along an axis.
 *
 *     bottom [outer][a + b][inner]   -->   top 0 [outer][a][inner]   top 1 [outer][b][inner]
 *
 * slice_point says where; without, parts are equal. A gradient that no reader of a top gives is 0. */
#include "engine/layer.h"

#include <string.h>

struct state {
    size_t axis;
};

static const Caffe__SliceParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__SliceParameter none = CAFFE__SLICE_PARAMETER__INIT;
    return layer->param->slice_param ? layer->param->slice_param : &none;
}

/* `slice_dim` is the older way to say it. */
static psd_status find_axis(const struct psd_layer *layer, size_t *axis)
{
    const Caffe__SliceParameter *p = param_of(layer);

    if (p->has_slice_dim && p->has_axis)
        return psd_layer_fail(layer, &p->base, 1, "slice_dim is the old name of axis; give one");
    if (p->has_slice_dim)
        return psd_layer_axis(layer, &p->base, 1, 0,
                              p->slice_dim > PSD_BLOB_AXES ? PSD_BLOB_AXES : (int)p->slice_dim,
                              axis);
    return psd_layer_axis(layer, &p->base, 3, 0, p->axis, axis);
}

/* Points grow and stay inside the axis. */
static psd_status check_points(const struct psd_layer *layer, size_t length)
{
    const Caffe__SliceParameter *p = param_of(layer);
    char text[300];

    psd_layer_bottom_text(layer, 0, text, sizeof text);
    if (!p->n_slice_point && length % layer->n_top)
        return psd_layer_fail(layer, NULL, 0, "%zu tops are no equal parts of %s", layer->n_top,
                              text);
    if (p->n_slice_point && p->n_slice_point != layer->n_top - 1)
        return psd_layer_fail(layer, &p->base, 2,
                              "slice_point is given %zu times for %zu tops; give one less than "
                              "tops, or none",
                              p->n_slice_point, layer->n_top);
    for (size_t i = 0; i < p->n_slice_point; i++) {
        if (p->slice_point[i] <= (i ? p->slice_point[i - 1] : 0) || p->slice_point[i] >= length)
            return psd_layer_fail(layer, &p->base, 2,
                                  "slice_point %u is not between the one before it and the end of "
                                  "%s",
                                  p->slice_point[i], text);
    }
    return PSD_OK;
}

/* Where top i begins on an axis of that length. */
static size_t start_of(const struct psd_layer *layer, size_t i, size_t length)
{
    const Caffe__SliceParameter *p = param_of(layer);

    if (i == 0 || i == layer->n_top)
        return i ? length : 0;
    return p->n_slice_point ? p->slice_point[i - 1] : i * (length / layer->n_top);
}

static psd_status reshape(struct psd_layer *layer)
{
    struct psd_shape shape = layer->bottom[0]->shape;
    struct state *state = layer->state;

    PSD_TRY(find_axis(layer, &state->axis));
    size_t length = shape.dim[state->axis];
    PSD_TRY(check_points(layer, length));
    for (size_t i = 0; i < layer->n_top; i++) {
        shape.dim[state->axis] = start_of(layer, i + 1, length) - start_of(layer, i, length);
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
    }
    return PSD_OK;
}

/* The length of a row, from the axis on. */
static size_t row_of(const struct psd_layer *layer, const struct psd_blob *blob)
{
    return psd_shape_count(&blob->shape, ((const struct state *)layer->state)->axis,
                           blob->shape.axes);
}

static psd_status forward(struct psd_layer *layer)
{
    const float *from = psd_blob_values(layer->bottom[0]);
    size_t all = row_of(layer, layer->bottom[0]);

    for (size_t i = 0; i < layer->n_top; i++) {
        float *to = psd_blob_values(layer->top[i]);
        size_t row = row_of(layer, layer->top[i]);
        for (size_t n = 0; n < layer->top[i]->count / row; n++)
            memcpy(to + n * row, from + n * all, row * sizeof *to);
        from += row;
    }
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    float *to = psd_blob_gradient(layer->bottom[0]);
    size_t all = row_of(layer, layer->bottom[0]);

    for (size_t i = 0; layer->propagates[0] && i < layer->n_top; i++) {
        const float *from = psd_blob_gradient(layer->top[i]);
        size_t row = row_of(layer, layer->top[i]);
        for (size_t n = 0; n < layer->top[i]->count / row; n++)
            memcpy(to + n * all, from + n * row, row * sizeof *to);
        to += row;
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_slice = {
    .type = "Slice",
    .about = "the bottom cut into the tops along an axis",
    .reads = "slice_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
