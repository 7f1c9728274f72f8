/* flatten.c - Flatten: the axes from `axis` to `end_axis` become one. */
#include "engine/layers/same.h"

static psd_status reshape(struct psd_layer *layer)
{
    const Caffe__FlattenParameter *p = layer->param->flatten_param;
    const struct psd_shape *from = &layer->bottom[0]->shape;
    struct psd_shape to = *from;
    size_t axis, end;

    PSD_TRY(psd_layer_axis(layer, p ? &p->base : NULL, 1, 0, p ? p->axis : 1, &axis));
    PSD_TRY(psd_layer_axis(layer, p ? &p->base : NULL, 2, 0, p ? p->end_axis : -1, &end));
    if (end < axis)
        return psd_layer_fail(layer, &p->base, 2, "end_axis is %zu, before axis, %zu", end, axis);
    to.axes = from->axes - (end - axis);
    to.dim[axis] = psd_shape_count(from, axis, end + 1);
    for (size_t i = axis + 1; i < to.axes; i++)
        to.dim[i] = from->dim[i + end - axis];
    return psd_same_reshape(layer, &to);
}

const struct psd_layer_kind psd_layer_flatten = {
    .type = "Flatten",
    .about = "the same values with some axes made one",
    .reads = "flatten_param",
    .bottoms = 1,
    .most_bottoms = 1,
    .tops = 1,
    .most_tops = 1,
    .may_be_in_place = true,
    .keeps_tops = true,
    .reshape = reshape,
    .forward = psd_same_forward,
    .backward = psd_same_backward,
};
