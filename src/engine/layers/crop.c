/* crop.c - Crop: the first bottom, cut to the size of the second from an axis on.
 *
 *     +-- bottom 0 ---------+
 *     |  offset             |         top: as many as bottom 1 has, along each axis that is cut
 *     |     +-- top ---+    |
 *     |     |          |    |         bottom 1 gives its shape; its values do not matter, so its
 *     |     +----------+    |         gradient is 0
 *     +---------------------+
 *
 * Each row of the top, along the last axis, is copied from its place, and gradients back. */
#include "engine/layer.h"

#include <string.h>

struct state {
    size_t offset[PSD_BLOB_AXES]; /* of each axis; 0 where nothing is cut */
};

static const Caffe__CropParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__CropParameter none = CAFFE__CROP_PARAMETER__INIT;
    return layer->param->crop_param ? layer->param->crop_param : &none;
}

/* --- reshape ---------------------------------------------------------------------------------- */

static psd_status check(const struct psd_layer *layer, size_t axis)
{
    const Caffe__CropParameter *p = param_of(layer);
    size_t axes = layer->bottom[0]->shape.axes;
    char first[300], second[300];

    if (layer->bottom[1]->shape.axes < axes)
        return psd_layer_fail(layer, NULL, 0, "has fewer axes to cut to than to cut: %s, and %s",
                              psd_layer_bottom_text(layer, 0, first, sizeof first),
                              psd_layer_bottom_text(layer, 1, second, sizeof second));
    if (p->n_offset > 1 && p->n_offset != axes - axis)
        return psd_layer_fail(layer, &p->base, 2,
                              "has offset %zu times for %zu axes; give it once, or for each",
                              p->n_offset, axes - axis);
    return PSD_OK;
}

static psd_status cut(const struct psd_layer *layer, size_t axis, size_t offset,
                      struct psd_shape *shape)
{
    size_t size = layer->bottom[1]->shape.dim[axis];
    char text[300];

    if (offset > shape->dim[axis] || size > shape->dim[axis] - offset)
        return psd_layer_fail(layer, &param_of(layer)->base, 2,
                              "axis %zu is cut to %zu from %zu on, which %s does not have", axis,
                              size, offset, psd_layer_bottom_text(layer, 0, text, sizeof text));
    shape->dim[axis] = size;
    return PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__CropParameter *p = param_of(layer);
    struct state *state = layer->state;
    struct psd_shape shape = layer->bottom[0]->shape;
    size_t axis;

    PSD_TRY(psd_layer_axis(layer, &p->base, 1, 0, p->axis, &axis));
    PSD_TRY(check(layer, axis));
    *state = (struct state){0};
    for (size_t i = axis; i < shape.axes; i++) {
        state->offset[i] = p->n_offset ? p->offset[p->n_offset > 1 ? i - axis : 0] : 0;
        PSD_TRY(cut(layer, i, state->offset[i], &shape));
    }
    return psd_layer_shape_top(layer, 0, &shape);
}

/* --- rows ------------------------------------------------------------------------------------- */

static size_t row_of(const struct psd_layer *layer)
{
    const struct psd_shape *shape = &layer->top[0]->shape;

    return shape->dim[shape->axes - 1];
}

/* Where in bottom 0 the row number `row` of the top starts. */
static size_t place_of(const struct psd_layer *layer, size_t row)
{
    const struct psd_shape *from = &layer->bottom[0]->shape, *to = &layer->top[0]->shape;
    const size_t *offset = ((const struct state *)layer->state)->offset;
    size_t last = to->axes - 1, place = offset[last], step = from->dim[last];

    for (size_t i = last; i-- > 0;) {
        place += (row % to->dim[i] + offset[i]) * step;
        row /= to->dim[i];
        step *= from->dim[i];
    }
    return place;
}

static psd_status forward(struct psd_layer *layer)
{
    const float *from = psd_blob_values(layer->bottom[0]);
    float *to = psd_blob_values(layer->top[0]);
    size_t row = row_of(layer);

    for (size_t i = 0; i < layer->top[0]->count / row; i++)
        memcpy(to + i * row, from + place_of(layer, i), row * sizeof *to);
    return PSD_OK;
}

static psd_status backward(struct psd_layer *layer)
{
    const float *from = psd_blob_gradient(layer->top[0]);
    float *to = psd_blob_gradient(layer->bottom[0]);
    size_t row = row_of(layer);

    for (size_t i = 0; i < 2; i++) {
        if (layer->propagates[i])
            memset(psd_blob_gradient(layer->bottom[i]), 0, layer->bottom[i]->count * sizeof(float));
    }
    for (size_t i = 0; layer->propagates[0] && i < layer->top[0]->count / row; i++)
        memcpy(to + place_of(layer, i), from + i * row, row * sizeof *to);
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_crop = {
    .type = "Crop",
    .about = "the first bottom, cut to the size of the second",
    .reads = "crop_param",
    .bottoms = 2,
    .most_bottoms = 2,
    .tops = 1,
    .most_tops = 1,
    .state_size = sizeof(struct state),
    .reshape = reshape,
    .forward = forward,
    .backward = backward,
};
