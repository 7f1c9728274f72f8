/* mean.h - what is subtracted from every sample: nothing, a number, a number for each channel, or
 * an image. */
#ifndef PSD_DATA_MEAN_H
#define PSD_DATA_MEAN_H

#include "base/status.h"
#include "data/sample.h"

/* All zero: nothing is subtracted. */
struct psd_mean {
    struct psd_sample_shape shape; /* of an image; else height is 0 and channels counts values */
    float *values;                 /* owned */
    char *path;                    /* owned; of an image's file, for sentences */
};

/* A copy of one value, or of one for each channel. */
psd_status psd_mean_from_values(const float *values, size_t count, struct psd_mean *out);

/* Reads a mean file (a BlobProto in binary form). PSD_ECONFIG: it is none, or holds no image. */
psd_status psd_mean_read(const char *path, struct psd_mean *out);
void psd_mean_fini(struct psd_mean *mean);

/* Whether the mean fits samples of this shape. PSD_ECONFIG: it does not. */
psd_status psd_mean_check(const struct psd_mean *mean, struct psd_sample_shape shape);

/* The image, [channels][height][width]; NULL when the mean is a number. */
const float *psd_mean_image(const struct psd_mean *mean);

/* The number for a channel; 0 when there is none. */
float psd_mean_value(const struct psd_mean *mean, size_t channel);

#endif
