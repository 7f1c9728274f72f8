/* blob_file.c - a blob in Caffe's files: weights, a solver's history, a mean image. */
#include "engine/blob_file.h"
#include "proto/field.h"

#include <string.h>

/* A file's blob has its shape in shape, or as four old numbers. */
static struct psd_shape shape_of(const Caffe__BlobProto *blob)
{
    struct psd_shape shape = {0};

    if (blob->has_num || blob->has_channels || blob->has_height || blob->has_width)
        return psd_shape_of(4, (size_t)blob->num, (size_t)blob->channels, (size_t)blob->height,
                            (size_t)blob->width);
    if (!blob->shape)
        return shape;
    shape.axes = blob->shape->n_dim < PSD_BLOB_AXES ? blob->shape->n_dim : PSD_BLOB_AXES;
    for (size_t i = 0; i < shape.axes; i++)
        shape.dim[i] = (size_t)blob->shape->dim[i];
    return shape;
}

/* Old files give every blob four axes: leading ones do not count. */
static bool fits(const struct psd_shape *ours, const struct psd_shape *theirs)
{
    size_t skip = theirs->axes > ours->axes ? theirs->axes - ours->axes : 0;

    if (theirs->axes - skip != ours->axes || psd_shape_count(theirs, 0, skip) != 1)
        return false;
    return memcmp(ours->dim, theirs->dim + skip, ours->axes * sizeof *ours->dim) == 0;
}

static void copy_values(const Caffe__BlobProto *from, struct psd_blob *to)
{
    float *values = psd_blob_values(to);

    for (size_t i = 0; from->n_double_data && i < to->count; i++)
        values[i] = (float)from->double_data[i];
    if (!from->n_double_data)
        memcpy(values, from->data, to->count * sizeof *values);
}

psd_status psd_blob_check_shape(const struct psd_blob *blob, const struct psd_shape *theirs)
{
    char a[200], b[200];

    if (fits(&blob->shape, theirs))
        return PSD_OK;
    return psd_fail(PSD_ECONFIG, "the file has the shape %s, the net has %s",
                    psd_shape_text(theirs, a, sizeof a), psd_shape_text(&blob->shape, b, sizeof b));
}

psd_status psd_blob_load(struct psd_blob *blob, const Caffe__BlobProto *from)
{
    struct psd_shape theirs = shape_of(from);
    size_t count = from->n_double_data ? from->n_double_data : from->n_data;

    PSD_TRY(psd_blob_check_shape(blob, &theirs));
    if (count != blob->count)
        return psd_fail(PSD_ECONFIG, "the file has %zu values instead of %zu", count, blob->count);
    copy_values(from, blob);
    return PSD_OK;
}

psd_status psd_blob_save(const struct psd_blob *blob, const float *data, const float *diff,
                         struct psd_arena *arena, Caffe__BlobProto *to)
{
    const ProtobufCMessageDescriptor *type = to->base.descriptor;
    ProtobufCMessage *shape = NULL;

    PSD_TRY(psd_field_add_message(arena, &to->base, psd_field_named(type, "shape"), &shape));
    for (size_t i = 0; i < blob->shape.axes; i++) {
        int64_t dim = (int64_t)blob->shape.dim[i];
        PSD_TRY(psd_field_put(arena, shape, psd_field_named(shape->descriptor, "dim"), &dim));
    }
    float *values = psd_field_extend(arena, &to->base, psd_field_named(type, "data"), blob->count);
    if (!values)
        return PSD_ENOMEM;
    memcpy(values, data, blob->count * sizeof *values);
    if (!diff)
        return PSD_OK;
    values = psd_field_extend(arena, &to->base, psd_field_named(type, "diff"), blob->count);
    if (!values)
        return PSD_ENOMEM;
    memcpy(values, diff, blob->count * sizeof *values);
    return PSD_OK;
}
