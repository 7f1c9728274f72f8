/* mean.c - means of three kinds in one array. */
#include "data/mean.h"
#include "base/alloc.h"
#include "proto/caffe.pb-c.h"
#include "proto/document.h"

#include <string.h>

psd_status psd_mean_from_values(const float *values, size_t count, struct psd_mean *out)
{
    float *copy = psd_alloc_copy(values, count * sizeof *values);

    if (!copy)
        return PSD_ENOMEM;
    *out = (struct psd_mean){.shape = {.channels = count}, .values = copy};
    return PSD_OK;
}

/* The last three axes of a blob's shape, in its new or its old way of writing; false when an axis
 * is missing, zero or negative, or a fourth one is not 1. */
static bool find_shape(const Caffe__BlobProto *blob, struct psd_sample_shape *out)
{
    int64_t axes[] = {blob->num, blob->channels, blob->height, blob->width};

    if (blob->shape) {
        size_t count = blob->shape->n_dim;
        if (count < 3 || count > 4)
            return false;
        axes[0] = 1;
        memcpy(axes + 4 - count, blob->shape->dim, count * sizeof *axes);
    }
    *out = (struct psd_sample_shape){(size_t)axes[1], (size_t)axes[2], (size_t)axes[3]};
    return axes[0] == 1 && axes[1] > 0 && axes[2] > 0 && axes[3] > 0 && axes[1] <= INT32_MAX &&
           axes[2] <= INT32_MAX && axes[3] <= INT32_MAX;
}

static bool has_values(const Caffe__BlobProto *blob, struct psd_sample_shape shape)
{
    size_t count = blob->n_double_data ? blob->n_double_data : blob->n_data, wanted;

    return !__builtin_mul_overflow(shape.channels * shape.height, shape.width, &wanted) &&
           wanted == count;
}

static psd_status copy_values(const Caffe__BlobProto *blob, size_t count, float **out)
{
    float *values = psd_alloc(count * sizeof *values);

    if (!values)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count; i++)
        values[i] = blob->n_double_data ? (float)blob->double_data[i] : blob->data[i];
    *out = values;
    return PSD_OK;
}

static psd_status take_blob(const Caffe__BlobProto *blob, const char *path, struct psd_mean *out)
{
    struct psd_mean mean = {0};

    if (!find_shape(blob, &mean.shape) || !has_values(blob, mean.shape))
        return psd_fail(PSD_ECONFIG, "%s holds no mean image of channels x height x width", path);
    mean.path = psd_alloc_text("%s", path);
    if (!mean.path)
        return PSD_ENOMEM;
    psd_status status =
        copy_values(blob, mean.shape.channels * mean.shape.height * mean.shape.width, &mean.values);
    if (status == PSD_OK)
        *out = mean;
    else
        psd_alloc_free(mean.path);
    return status;
}

psd_status psd_mean_read(const char *path, struct psd_mean *out)
{
    struct psd_document *document = NULL;

    PSD_TRY(
        psd_document_read(path, PSD_DOCUMENT_BINARY, &caffe__blob_proto__descriptor, &document));
    psd_status status = take_blob((const Caffe__BlobProto *)document->root, path, out);
    psd_document_destroy(document);
    return status;
}

void psd_mean_fini(struct psd_mean *mean)
{
    psd_alloc_free(mean->values);
    psd_alloc_free(mean->path);
    *mean = (struct psd_mean){0};
}

psd_status psd_mean_check(const struct psd_mean *mean, struct psd_sample_shape shape)
{
    const struct psd_sample_shape *own = &mean->shape;

    if (!mean->values)
        return PSD_OK;
    if (own->height == 0 && own->channels != 1 && own->channels != shape.channels)
        return psd_fail(PSD_ECONFIG, "its %zu channels do not fit the %zu numbers of mean_value",
                        shape.channels, own->channels);
    if (own->height > 0 && (own->channels != shape.channels || own->height != shape.height ||
                            own->width != shape.width))
        return psd_fail(PSD_ECONFIG, "its shape %zu x %zu x %zu is not %zu x %zu x %zu, that of %s",
                        shape.channels, shape.height, shape.width, own->channels, own->height,
                        own->width, mean->path);
    return PSD_OK;
}

const float *psd_mean_image(const struct psd_mean *mean)
{
    return mean->shape.height > 0 ? mean->values : NULL;
}

float psd_mean_value(const struct psd_mean *mean, size_t channel)
{
    if (!mean->values || mean->shape.height > 0)
        return 0;
    return mean->values[mean->shape.channels == 1 ? 0 : channel];
}
