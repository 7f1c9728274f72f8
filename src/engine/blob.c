/* blob.c - shapes, and the memory behind them. */
#include "engine/blob.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void psd_blob_init(struct psd_blob *blob, struct psd_device *device)
{
    *blob = (struct psd_blob){.device = device};
}

void psd_blob_fini(struct psd_blob *blob)
{
    if (!blob->shares_data)
        psd_device_free(blob->data);
    if (!blob->shares_diff)
        psd_device_free(blob->diff);
    *blob = (struct psd_blob){0};
}

struct psd_shape psd_shape_of(size_t axes, size_t a, size_t b, size_t c, size_t d)
{
    return (struct psd_shape){.axes = axes, .dim = {a, b, c, d}};
}

size_t psd_shape_count(const struct psd_shape *shape, size_t from, size_t to)
{
    size_t count = 1;

    for (size_t i = from; i < to; i++)
        count *= shape->dim[i];
    return count;
}

bool psd_shape_same(const struct psd_shape *a, const struct psd_shape *b)
{
    return a->axes == b->axes && memcmp(a->dim, b->dim, a->axes * sizeof *a->dim) == 0;
}

/* The product of the shape, if its bytes can be counted. */
static bool count_of(const struct psd_shape *shape, size_t *out)
{
    size_t count = 1;

    for (size_t i = 0; i < shape->axes; i++) {
        if (shape->dim[i] && count > SIZE_MAX / 8 / shape->dim[i])
            return false;
        count *= shape->dim[i];
    }
    *out = count;
    return true;
}

const char *psd_shape_text(const struct psd_shape *shape, char *out, size_t room)
{
    size_t used = 0, count;

    for (size_t i = 0; i < shape->axes && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%zu ", shape->dim[i]);
    if (used < room && count_of(shape, &count))
        snprintf(out + used, room - used, "(%zu)", count);
    else if (used < room)
        snprintf(out + used, room - used, "(beyond counting)");
    return out;
}

bool psd_shape_axis(const struct psd_shape *shape, int index, size_t *out)
{
    long axis = index < 0 ? index + (long)shape->axes : index;

    if (axis < 0 || axis >= (long)shape->axes)
        return false;
    *out = (size_t)axis;
    return true;
}

/* Makes sure that there are `size` bytes; new ones are zero, as in Caffe. */
static psd_status enlarge(struct psd_device *device, size_t size, bool *shared,
                          struct psd_device_memory **memory)
{
    struct psd_device_memory *larger = NULL;

    if (*memory && psd_device_size(*memory) >= size)
        return PSD_OK;
    PSD_TRY(psd_device_alloc(device, size, &larger));
    if (!*shared)
        psd_device_free(*memory);
    *memory = larger;
    *shared = false;
    return PSD_OK;
}

psd_status psd_blob_reshape(struct psd_blob *blob, const struct psd_shape *shape)
{
    size_t count;

    if (!count_of(shape, &count)) {
        char text[400];
        return psd_fail(PSD_EINVAL, "a blob of shape %s is too large",
                        psd_shape_text(shape, text, sizeof text));
    }
    PSD_TRY(enlarge(blob->device, count * sizeof(float), &blob->shares_data, &blob->data));
    if (blob->diff)
        PSD_TRY(enlarge(blob->device, count * sizeof(float), &blob->shares_diff, &blob->diff));
    blob->shape = *shape;
    blob->count = count;
    return PSD_OK;
}

void psd_blob_share_data(struct psd_blob *blob, const struct psd_blob *other)
{
    if (!blob->shares_data)
        psd_device_free(blob->data);
    blob->data = other->data;
    blob->shares_data = true;
}

void psd_blob_share_diff(struct psd_blob *blob, const struct psd_blob *other)
{
    if (!blob->shares_diff)
        psd_device_free(blob->diff);
    blob->diff = other->diff;
    blob->shares_diff = true;
}

psd_status psd_blob_need_diff(struct psd_blob *blob)
{
    bool shared = true; /* there is nothing of ours to free */

    return blob->diff ? PSD_OK
                      : enlarge(blob->device, blob->count * sizeof(float), &shared, &blob->diff);
}

struct psd_tensor psd_blob_data(const struct psd_blob *blob)
{
    return (struct psd_tensor){blob->data, 0};
}

struct psd_tensor psd_blob_diff(const struct psd_blob *blob)
{
    return (struct psd_tensor){blob->diff, 0};
}

float *psd_blob_values(const struct psd_blob *blob)
{
    return psd_tensor_host(psd_blob_data(blob));
}

float *psd_blob_gradient(const struct psd_blob *blob)
{
    return psd_tensor_host(psd_blob_diff(blob));
}
