/* filler.c - each way of filling a parameter, and the list of them.
 *
 *     fan in     values that one output sees      count / dim 0
 *     fan out    outputs that see one value       count / dim 1, or count for a vector */
#include "engine/filler.h"
#include "base/random.h"
#include "base/suggest.h"

#include <math.h>
#include <string.h>

/* What is filled, and from where numbers are drawn. */
struct target {
    const Caffe__FillerParameter *filler;
    uint64_t seed, stream, first;
    const struct psd_shape *shape;
    size_t count;
    float *values;
};

static psd_status fill_constant(const struct target *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->values[i] = t->filler->value;
    return PSD_OK;
}

/* --- drawn evenly ----------------------------------------------------------------------------- */

static void draw_between(const struct target *t, float min, float max)
{
    psd_random_fill_uniform(t->seed, t->stream, t->first, t->count, t->values);
    for (size_t i = 0; i < t->count; i++)
        t->values[i] = min + t->values[i] * (max - min);
}

static psd_status fill_uniform(const struct target *t)
{
    const Caffe__FillerParameter *f = t->filler;

    if (!(f->min <= f->max))
        return psd_fail(PSD_ECONFIG, "a uniform filler from %g up to %g", (double)f->min,
                        (double)f->max);
    draw_between(t, f->min, f->max);
    return PSD_OK;
}

/* The inputs of each output sum to 1. A row of zeros, which is possible and not likely, stays. */
static psd_status fill_positive_unitball(const struct target *t)
{
    size_t rows = t->shape->axes ? t->shape->dim[0] : 1, row = t->count / rows;

    draw_between(t, 0, 1);
    for (size_t r = 0; r < rows; r++) {
        float *values = t->values + r * row;
        double sum = 0;
        for (size_t i = 0; i < row; i++)
            sum += (double)values[i];
        for (size_t i = 0; sum > 0 && i < row; i++)
            values[i] = (float)((double)values[i] / sum);
    }
    return PSD_OK;
}

static double fan_of(const struct target *t)
{
    double count = (double)t->count;
    double in = t->shape->axes ? count / (double)t->shape->dim[0] : count;
    double out = t->shape->axes > 1 ? count / (double)t->shape->dim[1] : count;

    switch (t->filler->variance_norm) {
    case CAFFE__FILLER_PARAMETER__VARIANCE_NORM__FAN_OUT:
        return out;
    case CAFFE__FILLER_PARAMETER__VARIANCE_NORM__AVERAGE:
        return (in + out) / 2;
    default:
        return in;
    }
}

static psd_status fill_xavier(const struct target *t)
{
    float most = (float)sqrt(3 / fan_of(t));

    draw_between(t, -most, most);
    return PSD_OK;
}

/* --- drawn from the normal distribution ------------------------------------------------------- */

static void draw_normal(const struct target *t, float mean, float deviation)
{
    psd_random_fill_normal(t->seed, t->stream, t->first, t->count, t->values);
    for (size_t i = 0; i < t->count; i++)
        t->values[i] = mean + t->values[i] * deviation;
}

/* Of the outputs that see an input, `sparse` keep their weight on average. The stream's upper half
 * decides which. */
static void thin_out(const struct target *t)
{
    double outputs = t->shape->axes ? (double)t->shape->dim[0] : 1;
    float chance = (float)((double)t->filler->sparse / outputs);

    for (size_t i = 0; i < t->count; i++) {
        if (psd_random_uniform(t->seed, t->stream | (uint64_t)1 << 63, t->first + i) >= chance)
            t->values[i] = 0;
    }
}

static psd_status fill_gaussian(const struct target *t)
{
    const Caffe__FillerParameter *f = t->filler;

    if (!(f->std >= 0))
        return psd_fail(PSD_ECONFIG, "a gaussian filler with the std %g", (double)f->std);
    draw_normal(t, f->mean, f->std);
    if (f->sparse >= 0)
        thin_out(t);
    return PSD_OK;
}

static psd_status fill_msra(const struct target *t)
{
    draw_normal(t, 0, (float)sqrt(2 / fan_of(t)));
    return PSD_OK;
}

/* --- a kernel that enlarges images ------------------------------------------------------------ */

/* How much a pixel counts that is `at` from the side of the kernel; rounded where Caffe rounds. */
static float tent(size_t at, size_t width)
{
    float half = ceilf((float)width / 2);
    float center = (float)((double)(width - 1) / (2 * (double)half));

    return 1 - fabsf((float)at / half - center);
}

static psd_status fill_bilinear(const struct target *t)
{
    size_t width = t->shape->axes == 4 ? t->shape->dim[3] : 0;

    if (!width || t->shape->dim[2] != width) {
        char text[300];
        return psd_fail(PSD_ECONFIG, "a bilinear filler needs square kernels, not the shape %s",
                        psd_shape_text(t->shape, text, sizeof text));
    }
    for (size_t i = 0; i < t->count; i++)
        t->values[i] = tent(i % width, width) * tent(i / width % width, width);
    return PSD_OK;
}

/* --- the list --------------------------------------------------------------------------------- */

static const struct kind {
    const char *type;
    psd_status (*fill)(const struct target *target);
} kinds[] = {
    {"constant", fill_constant}, {"uniform", fill_uniform},
    {"gaussian", fill_gaussian}, {"positive_unitball", fill_positive_unitball},
    {"xavier", fill_xavier},     {"msra", fill_msra},
    {"bilinear", fill_bilinear},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static psd_status unknown(const char *type)
{
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, type, strlen(type));
    for (size_t i = 0; i < KINDS; i++)
        psd_suggest_offer(&suggest, kinds[i].type);
    return psd_fail(PSD_ECONFIG, "there is no filler \"%s\"%s", type, psd_suggest_phrase(&suggest));
}

psd_status psd_filler_fill_part(const Caffe__FillerParameter *filler, uint64_t seed,
                                uint64_t stream, uint64_t first, struct psd_blob *blob)
{
    static const Caffe__FillerParameter zero = CAFFE__FILLER_PARAMETER__INIT;
    const struct target target = {
        filler ? filler : &zero, seed, stream, first, &blob->shape, blob->count,
        psd_blob_values(blob)};

    for (size_t i = 0; blob->count && i < KINDS; i++) {
        if (strcmp(kinds[i].type, target.filler->type) != 0)
            continue;
        if (target.filler->sparse != -1 && kinds[i].fill != fill_gaussian)
            return psd_fail(PSD_ECONFIG, "sparse is for the gaussian filler, not for %s",
                            kinds[i].type);
        return kinds[i].fill(&target);
    }
    return blob->count ? unknown(target.filler->type) : PSD_OK;
}

psd_status psd_filler_fill(const Caffe__FillerParameter *filler, uint64_t seed, uint64_t stream,
                           struct psd_blob *blob)
{
    return psd_filler_fill_part(filler, seed, stream, 0, blob);
}
