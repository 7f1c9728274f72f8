/* reshape.c - Reshape: the same values under another shape.
 *
 *     bottom [ kept | axis .. axis + num_axes - 1 | kept ]
 *     top    [ kept | shape: 0 as in the bottom, -1 the rest | kept ] */
#include "engine/layers/same.h"

/* Which axes of the bottom are replaced. */
struct part {
    size_t first, count;
};

static const Caffe__ReshapeParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__ReshapeParameter none = CAFFE__RESHAPE_PARAMETER__INIT;
    return layer->param->reshape_param ? layer->param->reshape_param : &none;
}

/* A negative axis counts from behind the last one, where axes may be added. */
static psd_status find_part(const struct psd_layer *layer, struct part *part)
{
    const Caffe__ReshapeParameter *p = param_of(layer);
    long axes = (long)layer->bottom[0]->shape.axes;
    long first = p->axis < 0 ? axes + 1 + p->axis : p->axis;
    long count = p->num_axes == -1 ? axes - first : p->num_axes;
    char text[300];

    psd_layer_bottom_text(layer, 0, text, sizeof text);
    if (first < 0 || first > axes)
        return psd_layer_fail(layer, &p->base, 2, "axis is %d, but it reads %s", p->axis, text);
    if (count < 0 || first + count > axes)
        return psd_layer_fail(layer, &p->base, 3,
                              "num_axes is %d from axis %ld on, but it reads %s", p->num_axes,
                              first, text);
    *part = (struct part){(size_t)first, (size_t)count};
    return PSD_OK;
}

/* Sets dim `i` of the shape, but for the one that is inferred. */
static psd_status read_dim(const struct psd_layer *layer, struct part part, size_t i,
                           struct psd_shape *to, size_t *inferred)
{
    const struct psd_shape *from = &layer->bottom[0]->shape;
    const Caffe__BlobShape *shape = param_of(layer)->shape;
    int64_t dim = shape->dim[i];
    size_t at = part.first + i;

    if (dim < -1 || (dim == -1 && *inferred != PSD_BLOB_AXES))
        return psd_layer_fail(layer, &shape->base, 1,
                              "dim %zu is %lld; it is at least 1, 0 for the bottom's, or once -1 "
                              "for the rest",
                              i, (long long)dim);
    if (dim == 0 && at >= from->axes)
        return psd_layer_fail(layer, &shape->base, 1,
                              "dim %zu is 0, but the bottom has no axis %zu to take it from", i,
                              at);
    to->dim[at] = dim > 0 ? (size_t)dim : dim < 0 ? 1 : from->dim[at];
    if (dim < 0)
        *inferred = at;
    return PSD_OK;
}

static psd_status check_count(const struct psd_layer *layer, struct psd_shape *to, size_t inferred)
{
    const Caffe__BlobShape *shape = param_of(layer)->shape;
    size_t count = layer->bottom[0]->count, other = 1;
    char bottom[300], top[200];

    for (size_t i = 0; i < to->axes && other <= count; i++)
        other = to->dim[i] <= count / other ? other * to->dim[i] : count + 1;
    if (inferred != PSD_BLOB_AXES && other <= count && count % other == 0)
        to->dim[inferred] = count / other;
    else if (other != count)
        return psd_layer_fail(layer, shape ? &shape->base : NULL, 0,
                              "the shape %s does not have the values of %s",
                              psd_shape_text(to, top, sizeof top),
                              psd_layer_bottom_text(layer, 0, bottom, sizeof bottom));
    return PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    const struct psd_shape *from = &layer->bottom[0]->shape;
    const Caffe__BlobShape *shape = param_of(layer)->shape;
    size_t dims = shape ? shape->n_dim : 0, inferred = PSD_BLOB_AXES;
    struct psd_shape to = *from;
    struct part part = {0, 0};

    PSD_TRY(find_part(layer, &part));
    if (dims > PSD_BLOB_AXES - (from->axes - part.count))
        return psd_layer_fail(layer, &shape->base, 1, "has a shape of more than %d axes",
                              PSD_BLOB_AXES);
    to.axes = from->axes - part.count + dims;
    for (size_t i = 0; i < dims; i++)
        PSD_TRY(read_dim(layer, part, i, &to, &inferred));
    for (size_t i = part.first + part.count; i < from->axes; i++)
        to.dim[i - part.count + dims] = from->dim[i];
    PSD_TRY(check_count(layer, &to, inferred));
    return psd_same_reshape(layer, &to);
}

const struct psd_layer_kind psd_layer_reshape = {
    .type = "Reshape",
    .about = "the same values in another shape",
    .reads = "reshape_param",
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
