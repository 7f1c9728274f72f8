/* conv_nd.c - convolution along any number of axes, and the way back: deconvolution.
 *
 *     image [n][channels][pixels]  <--- w [outputs][channels / group][taps] --->
 *                                                            result [n][outputs][places]
 *
 * Tap t at place p is over pixel q (window.h), and a group's outputs see its channels only. All that
 * is to be computed are three sums over what is so tied together:
 *
 *     to_result     result[n][o][p] = b[o] + sum over t, c:  w[o][c][t] * image[n][c][q]
 *     to_image      image[n][c][q]  = b[c] + sum over t, o:  w[o][c][t] * result[n][o][p]
 *     to_weights    w[o][c][t]      =        sum over n, p:  result[n][o][p] * image[n][c][q]
 *
 * A convolution goes to the result; its gradients are the other two, of dy. A deconvolution goes to
 * the image. */
#include "ops/plain/plain.h"
#include "ops/plain/window.h"

/* A convolution with what follows from its spec. */
struct conv {
    const struct psd_columns_spec *s;
    size_t outputs, channels;             /* in all, */
    size_t group_outputs, group_channels; /* and of a group */
    size_t pixels, taps, places;
};

static struct conv conv_of(const struct psd_conv_nd_spec *spec)
{
    const struct psd_columns_spec *s = &spec->window;

    return (struct conv){
        .s = s,
        .outputs = spec->outputs,
        .channels = s->channels,
        .group_outputs = spec->outputs / spec->group,
        .group_channels = s->channels / spec->group,
        .pixels = psd_plain_window_count(s, s->size),
        .taps = psd_plain_window_count(s, s->kernel),
        .places = psd_plain_window_count(s, s->out),
    };
}

/* Where tap 0 of the weights is that tie output o to channel c, counted over all groups. */
static size_t weight_at(const struct conv *v, size_t o, size_t c)
{
    return (o * v->group_channels + c % v->group_channels) * v->taps;
}

/* --- to the result ------------------------------------------------------------------------------ */

static double place_value(const struct conv *v, const float *image, const float *w, size_t o,
                          size_t p)
{
    size_t first = o / v->group_outputs * v->group_channels, q;
    double sum = 0;

    for (size_t t = 0; t < v->taps; t++) {
        if (!psd_plain_window_pixel(v->s, p, t, &q))
            continue;
        for (size_t c = first; c < first + v->group_channels; c++)
            sum += (double)w[weight_at(v, o, c) + t] * (double)image[c * v->pixels + q];
    }
    return sum;
}

static void to_result(const struct conv *v, const float *image, const float *w, const float *b,
                      struct psd_plain_diff result)
{
    for (size_t i = 0; i < v->s->batch * v->outputs * v->places; i++) {
        size_t n = i / v->places / v->outputs, o = i / v->places % v->outputs;
        double sum = place_value(v, image + n * v->channels * v->pixels, w, o, i % v->places);
        psd_plain_put(result, i, b ? (double)b[o] + sum : sum);
    }
}

/* --- to the image ------------------------------------------------------------------------------- */

static double pixel_value(const struct conv *v, const float *result, const float *w, size_t c,
                          size_t q)
{
    size_t first = c / v->group_channels * v->group_outputs, p;
    double sum = 0;

    for (size_t t = 0; t < v->taps; t++) {
        if (!psd_plain_window_place(v->s, q, t, &p))
            continue;
        for (size_t o = first; o < first + v->group_outputs; o++)
            sum += (double)w[weight_at(v, o, c) + t] * (double)result[o * v->places + p];
    }
    return sum;
}

static void to_image(const struct conv *v, const float *result, const float *w, const float *b,
                     struct psd_plain_diff image)
{
    for (size_t i = 0; i < v->s->batch * v->channels * v->pixels; i++) {
        size_t n = i / v->pixels / v->channels, c = i / v->pixels % v->channels;
        double sum = pixel_value(v, result + n * v->outputs * v->places, w, c, i % v->pixels);
        psd_plain_put(image, i, b ? (double)b[c] + sum : sum);
    }
}

/* --- to the weights ----------------------------------------------------------------------------- */

static double weight_value(const struct conv *v, const float *image, const float *result, size_t o,
                           size_t c, size_t t)
{
    double sum = 0;
    size_t q;

    for (size_t n = 0; n < v->s->batch; n++) {
        const float *from = image + (n * v->channels + c) * v->pixels;
        for (size_t p = 0; p < v->places; p++) {
            if (psd_plain_window_pixel(v->s, p, t, &q))
                sum += (double)from[q] * (double)result[(n * v->outputs + o) * v->places + p];
        }
    }
    return sum;
}

static void to_weights(const struct conv *v, const float *image, const float *result,
                       struct psd_plain_diff dw)
{
    for (size_t o = 0; o < v->outputs; o++) {
        size_t first = o / v->group_outputs * v->group_channels;
        for (size_t c = first; c < first + v->group_channels; c++) {
            for (size_t t = 0; t < v->taps; t++)
                psd_plain_put(dw, weight_at(v, o, c) + t, weight_value(v, image, result, o, c, t));
        }
    }
}

/* The sum of each of `channels` over the batch, each of `inner` values. */
static void to_bias(const float *dy, size_t batch, size_t channels, size_t inner,
                    struct psd_plain_diff db)
{
    for (size_t c = 0; c < channels; c++) {
        double sum = 0;
        for (size_t n = 0; n < batch; n++) {
            for (size_t i = 0; i < inner; i++)
                sum += (double)dy[(n * channels + c) * inner + i];
        }
        psd_plain_put(db, c, sum);
    }
}

/* --- both operations ---------------------------------------------------------------------------- */

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    struct conv conv = conv_of(&op->spec.conv_nd);
    const float *x = psd_tensor_host(values->in[0]), *w = psd_tensor_host(values->in[1]);
    const float *b = psd_tensor_host(values->in[2]);
    struct psd_plain_diff y = {psd_tensor_host(values->out[0]), false};

    (op->spec.kind == PSD_OP_DECONV ? to_image : to_result)(&conv, x, w, b, y);
    return PSD_OK;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    struct conv v = conv_of(&op->spec.conv_nd);
    bool back = op->spec.kind == PSD_OP_DECONV;
    const float *x = psd_tensor_host(values->in[0]), *w = psd_tensor_host(values->in[1]);
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0), dw = psd_plain_diff(values, 1);
    struct psd_plain_diff db = psd_plain_diff(values, 2);

    if (dx.to)
        (back ? to_result : to_image)(&v, dy, w, NULL, dx);
    if (dw.to)
        to_weights(&v, back ? dy : x, back ? x : dy, dw);
    if (db.to)
        to_bias(dy, v.s->batch, back ? v.channels : v.outputs, back ? v.pixels : v.places, db);
    return PSD_OK;
}

const struct psd_op_code psd_plain_conv_nd = {.forward = forward, .backward = backward};
const struct psd_op_code psd_plain_deconv = {.forward = forward, .backward = backward};
