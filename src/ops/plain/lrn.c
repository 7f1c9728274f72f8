/* lrn.c - local response normalization: a value is divided by how loud its neighbours are.
 *
 *     scale_i = k + alpha / area * sum over j near i: x_j^2
 *     y_i     = x_i * scale_i^-beta
 *
 *     across channels   near: `size` channels around i, same pixel       area = size
 *     within a channel  near: `size` x `size` pixels around i            area = size^2, k = 1
 *
 * What lies outside counts as 0, but area stays. Near is symmetric, so
 *
 *     dx_i = dy_i * scale_i^-beta - 2 alpha beta / area * x_i * sum over j near i: dy_j y_j /
 * scale_j
 */
#include "ops/plain/plain.h"

#include <math.h>

/* Around a value: from the first to before the last. */
struct box {
    size_t c[2], h[2], w[2];
};

static void span(size_t at, size_t radius, size_t size, size_t out[2])
{
    out[0] = at > radius ? at - radius : 0;
    out[1] = size - at > radius ? at + radius + 1 : size;
}

static struct box near(const struct psd_lrn_spec *s, size_t c, size_t h, size_t w)
{
    size_t radius = (s->size - 1) / 2;
    struct box box;

    span(c, s->within ? 0 : radius, s->channels, box.c);
    span(h, s->within ? radius : 0, s->height, box.h);
    span(w, s->within ? radius : 0, s->width, box.w);
    return box;
}

static size_t at(const struct psd_lrn_spec *s, size_t c, size_t h, size_t w)
{
    return (c * s->height + h) * s->width + w;
}

/* alpha / area */
static double weight(const struct psd_lrn_spec *s)
{
    double size = (double)s->size;

    return (double)s->alpha / (s->within ? size * size : size);
}

static double scale(const struct psd_lrn_spec *s, const float *x, size_t c, size_t h, size_t w)
{
    struct box box = near(s, c, h, w);
    double sum = 0;

    for (size_t i = box.c[0]; i < box.c[1]; i++) {
        for (size_t j = box.h[0]; j < box.h[1]; j++) {
            for (size_t k = box.w[0]; k < box.w[1]; k++)
                sum += (double)x[at(s, i, j, k)] * (double)x[at(s, i, j, k)];
        }
    }
    return (s->within ? 1 : (double)s->k) + weight(s) * sum;
}

static void forward_image(const struct psd_lrn_spec *s, const float *x, float *y)
{
    for (size_t c = 0; c < s->channels; c++) {
        for (size_t h = 0; h < s->height; h++) {
            for (size_t w = 0; w < s->width; w++) {
                double factor = pow(scale(s, x, c, h, w), -(double)s->beta);
                y[at(s, c, h, w)] = (float)((double)x[at(s, c, h, w)] * factor);
            }
        }
    }
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_lrn_spec *s = &op->spec.lrn;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);
    size_t image = s->channels * s->height * s->width;

    for (size_t n = 0; n < s->batch; n++)
        forward_image(s, x + n * image, y + n * image);
    return PSD_OK;
}

/* The sum over j near (c, h, w): dy_j y_j / scale_j. */
static double neighbours(const struct psd_lrn_spec *s, const float *x, const float *dy, size_t c,
                         size_t h, size_t w)
{
    struct box box = near(s, c, h, w);
    double sum = 0;

    for (size_t i = box.c[0]; i < box.c[1]; i++) {
        for (size_t j = box.h[0]; j < box.h[1]; j++) {
            for (size_t k = box.w[0]; k < box.w[1]; k++)
                sum += (double)dy[at(s, i, j, k)] * (double)x[at(s, i, j, k)] *
                       pow(scale(s, x, i, j, k), -(double)s->beta - 1);
        }
    }
    return sum;
}

static void backward_image(const struct psd_lrn_spec *s, const float *x, const float *dy,
                           struct psd_plain_diff dx)
{
    double factor = 2 * weight(s) * (double)s->beta;

    for (size_t c = 0; c < s->channels; c++) {
        for (size_t h = 0; h < s->height; h++) {
            for (size_t w = 0; w < s->width; w++) {
                size_t i = at(s, c, h, w);
                double own = (double)dy[i] * pow(scale(s, x, c, h, w), -(double)s->beta);
                double others = factor * (double)x[i] * neighbours(s, x, dy, c, h, w);
                psd_plain_put(dx, i, own - others);
            }
        }
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_lrn_spec *s = &op->spec.lrn;
    const float *x = psd_tensor_host(values->in[0]);
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);
    size_t image = s->channels * s->height * s->width;

    for (size_t n = 0; dx.to && n < s->batch; n++) {
        struct psd_plain_diff part = {dx.to + n * image, dx.adds};
        backward_image(s, x + n * image, dy + n * image, part);
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_lrn = {.forward = forward, .backward = backward};
