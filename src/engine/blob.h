/* blob.h - an array with a shape: values, and the gradient of the loss by them.
 *
 *     dim      64 x 20 x 24 x 24         data [737280] on the device
 *                                        diff [737280] there too, from its first use on
 *
 * Memory is the blob's own unless it is told to share another's: an in-place layer, a split and
 * nets with common weights look at the same values. */
#ifndef PSD_ENGINE_BLOB_H
#define PSD_ENGINE_BLOB_H

#include "ops/ops.h"

enum { PSD_BLOB_AXES = 32 };

struct psd_shape {
    size_t axes;
    size_t dim[PSD_BLOB_AXES];
};

struct psd_blob {
    struct psd_device *device; /* borrowed; outlives us */
    struct psd_shape shape;
    size_t count;                   /* the product of the shape */
    struct psd_device_memory *data; /* owned unless shares_data */
    struct psd_device_memory *diff; /* owned unless shares_diff; NULL until psd_blob_need_diff */
    bool shares_data, shares_diff;
};

void psd_blob_init(struct psd_blob *blob, struct psd_device *device);
void psd_blob_fini(struct psd_blob *blob);

/* A shape of up to four axes, for those who know theirs. */
struct psd_shape psd_shape_of(size_t axes, size_t a, size_t b, size_t c, size_t d);

/* The product of dim[from] to dim[to - 1]; 1 for no axis. */
size_t psd_shape_count(const struct psd_shape *shape, size_t from, size_t to);

bool psd_shape_same(const struct psd_shape *a, const struct psd_shape *b);

/* "64 20 24 24 (737280)", as Caffe writes it. */
const char *psd_shape_text(const struct psd_shape *shape, char *out, size_t room);

/* Finds the axis that `index` means, which counts from the end when negative; false when there is
 * no such axis. */
bool psd_shape_axis(const struct psd_shape *shape, int index, size_t *out);

/* Gives the blob a shape; memory is taken when it has not enough, and its values are then zero.
 * PSD_EINVAL: the product of the shape is too large. */
psd_status psd_blob_reshape(struct psd_blob *blob, const struct psd_shape *shape);

/* Lets the blob look at another's values, or gradient, of the same count. */
void psd_blob_share_data(struct psd_blob *blob, const struct psd_blob *other);
void psd_blob_share_diff(struct psd_blob *blob, const struct psd_blob *other);

/* Takes memory for the gradient, all zero, if there is none yet. */
psd_status psd_blob_need_diff(struct psd_blob *blob);

struct psd_tensor psd_blob_data(const struct psd_blob *blob);
struct psd_tensor psd_blob_diff(const struct psd_blob *blob); /* no memory: there is none */

/* Where the host finds them; for devices whose memory it can touch. */
float *psd_blob_values(const struct psd_blob *blob);
float *psd_blob_gradient(const struct psd_blob *blob);

#endif
