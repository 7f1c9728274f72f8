/* transform.h - what Caffe's transform_param does to a sample.
 *
 *     .------------------.
 *     |    .--------.    |     crop (anywhere in TRAIN, in the middle in TEST)
 *     |    |  <-->  |    |     mirror (every second sample, by chance)
 *     |    '--------'    |     value = (value - mean) * scale
 *     '------------------'
 *
 * Chance is a function of (seed, stream, index), see base/random.h: a sample is cut the same way
 * whichever process reads it, today and after a resume. A transform does not change once it is
 * made; any number of threads may use it. */
#ifndef PSD_DATA_TRANSFORM_H
#define PSD_DATA_TRANSFORM_H

#include "base/status.h"
#include "data/sample.h"
#include "proto/caffe.pb-c.h"

struct psd_transform;

/* Which sample chance is asked about. */
struct psd_draw {
    uint64_t seed;   /* of the job */
    uint64_t stream; /* iteration << 32 | layer */
    uint64_t index;  /* of the sample in the batch of all workers together */
};

/* Makes the transform that `param` (NULL: all defaults) describes; param is read during the call
 * only. `in` is the file it stands in, beside which its mean file may be, or NULL. PSD_ECONFIG: it
 * contradicts itself, or there is no such mean. */
psd_status psd_transform_create(const Caffe__TransformationParameter *param, Caffe__Phase phase,
                                const char *in, struct psd_transform **out);
void psd_transform_destroy(struct psd_transform *transform);

/* How images are to be decoded: force_color, force_gray, or as they are. */
enum psd_image_color psd_transform_color(const struct psd_transform *transform);

/* The shape that samples of shape `in` get. PSD_ECONFIG: they are smaller than the crop, or do not
 * fit the mean. */
psd_status psd_transform_shape(const struct psd_transform *transform, struct psd_sample_shape in,
                               struct psd_sample_shape *out);

/* Writes the transformed values of a sample whose shape psd_transform_shape accepts. */
void psd_transform_apply(const struct psd_transform *transform, const struct psd_sample *sample,
                         const struct psd_draw *draw, float *out);

#endif
