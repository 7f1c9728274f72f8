/* conv.c - convolution, as nets mean it: the kernel is not turned around.
 *
 *     y[n][o][oh][ow] = b[o] + sum over c, kh, kw:  w[o][c][kh][kw] * x[n][first + c][h][w]
 *
 *     h = oh * stride - pad + kh * dilation, and w likewise; outside the image x is 0
 *
 * With groups, the outputs of a group see the channels of that group only, which start at `first`.
 */
#include "ops/plain/plain.h"

static size_t x_at(const struct psd_conv_spec *s, size_t n, size_t c, size_t h, size_t w)
{
    return ((n * s->channels + c) * s->height + h) * s->width + w;
}

static size_t w_at(const struct psd_conv_spec *s, size_t o, size_t c, size_t kh, size_t kw)
{
    return ((o * (s->channels / s->group) + c) * s->kernel[0] + kh) * s->kernel[1] + kw;
}

static size_t y_at(const struct psd_conv_spec *s, size_t n, size_t o, size_t oh, size_t ow)
{
    return ((n * s->outputs + o) * s->out_height + oh) * s->out_width + ow;
}

/* The first channel that output o sees. */
static size_t first_channel(const struct psd_conv_spec *s, size_t o)
{
    return o / (s->outputs / s->group) * (s->channels / s->group);
}

/* The place in the image, along one axis (0: height), under tap k of the window of output `out`;
 * left of the image that is a huge number, beyond every image as well. */
static size_t place(const struct psd_conv_spec *s, int axis, size_t out, size_t k)
{
    return out * s->stride[axis] + k * s->dilation[axis] - s->pad[axis];
}

/* The other way round: the output whose tap k is over place `at`; false when there is none. */
static bool find_output(const struct psd_conv_spec *s, int axis, size_t at, size_t k, size_t *out)
{
    size_t padded = at + s->pad[axis], tap = k * s->dilation[axis];

    if (padded < tap || (padded - tap) % s->stride[axis])
        return false;
    *out = (padded - tap) / s->stride[axis];
    return *out < (axis ? s->out_width : s->out_height);
}

/* --- forward
 * -------------------------------------------------------------------------------------*/

static double window(const struct psd_conv_spec *s, const float *x, const float *w, size_t n,
                     size_t o, size_t oh, size_t ow)
{
    size_t first = first_channel(s, o);
    double sum = 0;

    for (size_t c = 0; c < s->channels / s->group; c++) {
        for (size_t kh = 0; kh < s->kernel[0]; kh++) {
            size_t h = place(s, 0, oh, kh);
            for (size_t kw = 0; h < s->height && kw < s->kernel[1]; kw++) {
                size_t v = place(s, 1, ow, kw);
                if (v < s->width)
                    sum +=
                        (double)x[x_at(s, n, first + c, h, v)] * (double)w[w_at(s, o, c, kh, kw)];
            }
        }
    }
    return sum;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_conv_spec *s = &op->spec.conv;
    const float *x = psd_tensor_host(values->in[0]), *w = psd_tensor_host(values->in[1]);
    const float *b = psd_tensor_host(values->in[2]);
    float *y = psd_tensor_host(values->out[0]);

    for (size_t n = 0; n < s->batch; n++) {
        for (size_t o = 0; o < s->outputs; o++) {
            double bias = s->bias ? (double)b[o] : 0;
            for (size_t oh = 0; oh < s->out_height; oh++) {
                for (size_t ow = 0; ow < s->out_width; ow++)
                    y[y_at(s, n, o, oh, ow)] = (float)(bias + window(s, x, w, n, o, oh, ow));
            }
        }
    }
    return PSD_OK;
}

/* --- backward
 * ------------------------------------------------------------------------------------*/

/* What tap (kh, kw) of all outputs that see channel c hands back from output place (oh, ow). */
static double outputs_of(const struct psd_conv_spec *s, const float *w, const float *dy, size_t n,
                         size_t c, const size_t tap[2], const size_t out[2])
{
    size_t channels = s->channels / s->group, outputs = s->outputs / s->group;
    size_t first = c / channels * outputs;
    double sum = 0;

    for (size_t o = first; o < first + outputs; o++)
        sum += (double)w[w_at(s, o, c % channels, tap[0], tap[1])] *
               (double)dy[y_at(s, n, o, out[0], out[1])];
    return sum;
}

static double pixel_gradient(const struct psd_conv_spec *s, const float *w, const float *dy,
                             size_t n, size_t c, size_t h, size_t v)
{
    double sum = 0;
    size_t tap[2], out[2];

    for (tap[0] = 0; tap[0] < s->kernel[0]; tap[0]++) {
        if (!find_output(s, 0, h, tap[0], &out[0]))
            continue;
        for (tap[1] = 0; tap[1] < s->kernel[1]; tap[1]++) {
            if (find_output(s, 1, v, tap[1], &out[1]))
                sum += outputs_of(s, w, dy, n, c, tap, out);
        }
    }
    return sum;
}

static void input_gradient(const struct psd_conv_spec *s, const float *w, const float *dy,
                           struct psd_plain_diff dx)
{
    for (size_t n = 0; n < s->batch; n++) {
        for (size_t c = 0; c < s->channels; c++) {
            for (size_t h = 0; h < s->height; h++) {
                for (size_t v = 0; v < s->width; v++)
                    psd_plain_put(dx, x_at(s, n, c, h, v), pixel_gradient(s, w, dy, n, c, h, v));
            }
        }
    }
}

/* Of the weight that ties channel c of a group to output o through tap (kh, kw). */
static double weight_gradient(const struct psd_conv_spec *s, const float *x, const float *dy,
                              size_t o, size_t c, size_t kh, size_t kw)
{
    size_t channel = first_channel(s, o) + c;
    double sum = 0;

    for (size_t n = 0; n < s->batch; n++) {
        for (size_t oh = 0; oh < s->out_height; oh++) {
            size_t h = place(s, 0, oh, kh);
            for (size_t ow = 0; h < s->height && ow < s->out_width; ow++) {
                size_t v = place(s, 1, ow, kw);
                if (v < s->width)
                    sum += (double)x[x_at(s, n, channel, h, v)] * (double)dy[y_at(s, n, o, oh, ow)];
            }
        }
    }
    return sum;
}

static void weights_gradient(const struct psd_conv_spec *s, const float *x, const float *dy,
                             struct psd_plain_diff dw)
{
    for (size_t o = 0; o < s->outputs; o++) {
        for (size_t c = 0; c < s->channels / s->group; c++) {
            for (size_t kh = 0; kh < s->kernel[0]; kh++) {
                for (size_t kw = 0; kw < s->kernel[1]; kw++)
                    psd_plain_put(dw, w_at(s, o, c, kh, kw),
                                  weight_gradient(s, x, dy, o, c, kh, kw));
            }
        }
    }
}

static void bias_gradient(const struct psd_conv_spec *s, const float *dy, struct psd_plain_diff db)
{
    size_t pixels = s->out_height * s->out_width;

    for (size_t o = 0; o < s->outputs; o++) {
        double sum = 0;
        for (size_t n = 0; n < s->batch; n++) {
            for (size_t i = 0; i < pixels; i++)
                sum += (double)dy[y_at(s, n, o, 0, 0) + i];
        }
        psd_plain_put(db, o, sum);
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_conv_spec *s = &op->spec.conv;
    const float *x = psd_tensor_host(values->in[0]), *w = psd_tensor_host(values->in[1]);
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0), dw = psd_plain_diff(values, 1);
    struct psd_plain_diff db = psd_plain_diff(values, 2);

    if (dx.to)
        input_gradient(s, w, dy, dx);
    if (dw.to)
        weights_gradient(s, x, dy, dw);
    if (db.to)
        bias_gradient(s, dy, db);
    return PSD_OK;
}

const struct psd_op_code psd_plain_conv = {.forward = forward, .backward = backward};
