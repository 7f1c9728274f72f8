/* softmax_loss.c - how surprised a net is by the labels.
 *
 *     p    = softmax(x)
 *     loss = sum over the places: -log(max(p[label], FLT_MIN)) / norm
 *     dx_c = (p_c - (c == label)) * dloss / norm
 *
 * A place with the ignored label adds nothing, and its gradient is 0. norm is the number of places
 * (FULL), of those that count (VALID, at least 1), of samples (BATCH_SIZE), or 1 (NONE). */
#include "base/status.h"
#include "ops/plain/plain.h"
#include "ops/plain/softmax.h"

#include <float.h>
#include <limits.h>
#include <math.h>

enum { IGNORED = -1 };

/* The channel that place i is labelled with, or IGNORED. Labels are floats and cut, not rounded. */
static psd_status label_of(const struct psd_softmax_loss_spec *s, const float *labels, size_t i,
                           ptrdiff_t *out)
{
    double label = trunc((double)labels[i]);

    if (s->has_ignored && label == s->ignored) {
        *out = IGNORED;
        return PSD_OK;
    }
    if (!(label >= 0 && label < (double)s->channels))
        return psd_fail(
            PSD_ECONFIG,
            "label %g of sample %zu of the batch: with %zu classes, labels are 0 to %zu", label,
            i / s->inner, s->channels, s->channels - 1);
    *out = (ptrdiff_t)label;
    return PSD_OK;
}

static psd_status norm_of(const struct psd_softmax_loss_spec *s, const float *labels, double *out)
{
    size_t valid = 0;

    for (size_t i = 0; i < s->outer * s->inner; i++) {
        ptrdiff_t label = IGNORED;
        PSD_TRY(label_of(s, labels, i, &label));
        valid += label != IGNORED;
    }
    const double norms[] = {
        [PSD_LOSS_FULL] = (double)(s->outer * s->inner),
        [PSD_LOSS_VALID] = valid ? (double)valid : 1,
        [PSD_LOSS_BATCH_SIZE] = (double)s->outer,
        [PSD_LOSS_NONE] = 1,
    };
    *out = norms[s->norm];
    return PSD_OK;
}

/* What a label of this probability costs; NaN costs NaN, which fmax would hide. */
static double cost(double probability)
{
    return -log(probability < (double)FLT_MIN ? (double)FLT_MIN : probability);
}

/* Where the column of place i starts. */
static size_t column_at(const struct psd_softmax_loss_spec *s, size_t i)
{
    return i / s->inner * s->channels * s->inner + i % s->inner;
}

static void put_probabilities(const struct psd_plain_column *column, float *p)
{
    for (size_t c = 0; c < column->channels; c++)
        p[c * column->inner] = (float)psd_plain_probability(column, c);
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_softmax_loss_spec *s = &op->spec.softmax_loss;
    const float *x = psd_tensor_host(values->in[0]), *labels = psd_tensor_host(values->in[1]);
    float *loss = psd_tensor_host(values->out[0]), *p = psd_tensor_host(values->out[1]);
    double norm, sum = 0;

    PSD_TRY(norm_of(s, labels, &norm));
    for (size_t i = 0; i < s->outer * s->inner; i++) {
        size_t first = column_at(s, i);
        struct psd_plain_column column = psd_plain_column(x + first, s->channels, s->inner);
        ptrdiff_t label = IGNORED;
        PSD_TRY(label_of(s, labels, i, &label));
        if (label != IGNORED)
            sum += cost(psd_plain_probability(&column, (size_t)label));
        if (p)
            put_probabilities(&column, p + first);
    }
    loss[0] = (float)(sum / norm);
    return PSD_OK;
}

static void put_gradient(const struct psd_plain_column *column, ptrdiff_t label, double factor,
                         struct psd_plain_diff dx)
{
    for (size_t c = 0; c < column->channels; c++) {
        double wanted = (ptrdiff_t)c == label;
        double error = label == IGNORED ? 0 : psd_plain_probability(column, c) - wanted;
        psd_plain_put(dx, c * column->inner, error * factor);
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_softmax_loss_spec *s = &op->spec.softmax_loss;
    const float *x = psd_tensor_host(values->in[0]), *labels = psd_tensor_host(values->in[1]);
    const float *dloss = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);
    double norm;

    PSD_TRY(norm_of(s, labels, &norm));
    for (size_t i = 0; dx.to && i < s->outer * s->inner; i++) {
        size_t first = column_at(s, i);
        struct psd_plain_column column = psd_plain_column(x + first, s->channels, s->inner);
        struct psd_plain_diff part = {dx.to + first, dx.adds};
        ptrdiff_t label = IGNORED;
        PSD_TRY(label_of(s, labels, i, &label));
        put_gradient(&column, label, (double)dloss[0] / norm, part);
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_softmax_loss = {.forward = forward, .backward = backward};
