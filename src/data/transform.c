/* transform.c - a window of the sample, run by run of values that lie side by side. */
#include "data/transform.h"
#include "base/alloc.h"
#include "base/path.h"
#include "base/random.h"
#include "data/mean.h"

#include <string.h>

struct psd_transform {
    size_t crop; /* side of the square; 0: all of the sample */
    bool mirror, anywhere;
    enum psd_image_color color;
    float scale;
    struct psd_mean mean; /* owned */
};

/* --- making one ------------------------------------------------------------------------------- */

static psd_status check(const Caffe__TransformationParameter *param)
{
    if (param->force_color && param->force_gray)
        return psd_fail(PSD_ECONFIG, "transform_param asks for both force_color and force_gray");
    if (param->mean_file && param->n_mean_value)
        return psd_fail(PSD_ECONFIG, "transform_param has both a mean_file and a mean_value");
    return PSD_OK;
}

static psd_status find_mean(const Caffe__TransformationParameter *param, const char *in,
                            struct psd_mean *mean)
{
    char *path = NULL;

    if (param->n_mean_value)
        return psd_mean_from_values(param->mean_value, param->n_mean_value, mean);
    if (!param->mean_file)
        return PSD_OK;
    PSD_TRY(psd_path_find(param->mean_file, in, &path));
    psd_status status = psd_mean_read(path, mean);
    psd_alloc_free(path);
    return status;
}

psd_status psd_transform_create(const Caffe__TransformationParameter *param, Caffe__Phase phase,
                                const char *in, struct psd_transform **out)
{
    static const Caffe__TransformationParameter defaults = CAFFE__TRANSFORMATION_PARAMETER__INIT;

    if (!param)
        param = &defaults;
    PSD_TRY(check(param));
    struct psd_transform *transform = psd_alloc_zero(1, sizeof *transform);
    if (!transform)
        return PSD_ENOMEM;
    transform->crop = param->crop_size;
    transform->mirror = param->mirror;
    transform->anywhere = phase == CAFFE__PHASE__TRAIN;
    transform->scale = param->scale;
    if (param->force_color || param->force_gray)
        transform->color = param->force_color ? PSD_IMAGE_COLOR : PSD_IMAGE_GRAY;
    psd_status status = find_mean(param, in, &transform->mean);
    if (status == PSD_OK)
        *out = transform;
    else
        psd_transform_destroy(transform);
    return status;
}

void psd_transform_destroy(struct psd_transform *transform)
{
    if (!transform)
        return;
    psd_mean_fini(&transform->mean);
    psd_alloc_free(transform);
}

enum psd_image_color psd_transform_color(const struct psd_transform *transform)
{
    return transform->color;
}

psd_status psd_transform_shape(const struct psd_transform *transform, struct psd_sample_shape in,
                               struct psd_sample_shape *out)
{
    size_t crop = transform->crop;

    if (crop > in.height || crop > in.width)
        return psd_fail(PSD_ECONFIG, "its %zu x %zu values are fewer than crop_size: %zu asks for",
                        in.height, in.width, crop);
    PSD_TRY(psd_mean_check(&transform->mean, in));
    *out = (struct psd_sample_shape){in.channels, crop ? crop : in.height, crop ? crop : in.width};
    return PSD_OK;
}

/* --- chance ----------------------------------------------------------------------------------- */

/* The questions asked about one sample; each has a block of random bits of its own. */
enum question { MIRROR, TOP, LEFT, QUESTIONS };

static size_t ask(const struct psd_draw *draw, enum question question, size_t n)
{
    return psd_random_below(draw->seed, draw->stream, QUESTIONS * draw->index + question, n);
}

struct window {
    size_t top, left, height, width;
};

static struct window choose_window(const struct psd_transform *transform,
                                   struct psd_sample_shape shape, const struct psd_draw *draw)
{
    size_t crop = transform->crop, down = shape.height - crop, right = shape.width - crop;

    if (crop == 0)
        return (struct window){0, 0, shape.height, shape.width};
    if (!transform->anywhere)
        return (struct window){down / 2, right / 2, crop, crop};
    return (struct window){ask(draw, TOP, down + 1), ask(draw, LEFT, right + 1), crop, crop};
}

/* --- arithmetic ------------------------------------------------------------------------------- */

/* Loops of a fixed length are what compilers turn into vector instructions without being asked;
 * PIECE floats stay in the first cache between two steps. */
enum { STEP = 16, PIECE = 1024 };

static void widen(const uint8_t *restrict from, size_t count, float *restrict to)
{
    size_t i = 0;

    for (; count - i >= STEP; i += STEP) {
        for (size_t j = 0; j < STEP; j++)
            to[i + j] = (float)from[i + j];
    }
    for (; i < count; i++)
        to[i] = (float)from[i];
}

static void scale_around(float mean, float scale, size_t count, float *restrict values)
{
    size_t i = 0;

    for (; count - i >= STEP; i += STEP) {
        for (size_t j = 0; j < STEP; j++)
            values[i + j] = (values[i + j] - mean) * scale;
    }
    for (; i < count; i++)
        values[i] = (values[i] - mean) * scale;
}

static void scale_around_each(const float *restrict means, float scale, size_t count,
                              float *restrict values)
{
    size_t i = 0;

    for (; count - i >= STEP; i += STEP) {
        for (size_t j = 0; j < STEP; j++)
            values[i + j] = (values[i + j] - means[i + j]) * scale;
    }
    for (; i < count; i++)
        values[i] = (values[i] - means[i]) * scale;
}

/* `count` values from place `from` of the sample on, which are of channel `channel`. */
static void apply_run(const struct psd_transform *transform, const struct psd_sample *sample,
                      size_t channel, size_t from, size_t count, float *out)
{
    const float *means = psd_mean_image(&transform->mean);
    float mean = psd_mean_value(&transform->mean, channel);

    for (size_t done = 0; done < count; done += PIECE) {
        size_t at = from + done, n = count - done < PIECE ? count - done : PIECE;
        if (sample->bytes)
            widen(sample->bytes + at, n, out + done);
        else
            memcpy(out + done, sample->floats + at, n * sizeof *out);
        if (means)
            scale_around_each(means + at, transform->scale, n, out + done);
        else
            scale_around(mean, transform->scale, n, out + done);
    }
}

static void reverse_rows(size_t rows, size_t width, float *values)
{
    for (float *row = values; row < values + rows * width; row += width) {
        for (size_t left = 0, right = width - 1; left < right; left++, right--) {
            float value = row[left];
            row[left] = row[right];
            row[right] = value;
        }
    }
}

void psd_transform_apply(const struct psd_transform *transform, const struct psd_sample *sample,
                         const struct psd_draw *draw, float *out)
{
    struct psd_sample_shape shape = sample->shape;
    struct window window = choose_window(transform, shape, draw);
    bool whole = window.width == shape.width; /* rows lie side by side: they are one run */
    size_t run = whole ? window.height * window.width : window.width;
    size_t runs = whole ? 1 : window.height;
    float *to = out;

    for (size_t c = 0; c < shape.channels; c++) {
        size_t from = (c * shape.height + window.top) * shape.width + window.left;
        for (size_t i = 0; i < runs; i++, from += shape.width, to += run)
            apply_run(transform, sample, c, from, run, to);
    }
    if (transform->mirror && ask(draw, MIRROR, 2))
        reverse_rows(shape.channels * window.height, window.width, out);
}
