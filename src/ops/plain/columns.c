/* columns.c - what each tap of a window sees of an image.
 *
 *     y[n][c][t][p] = x[n][c][q]        q: the pixel under tap t at place p (window.h), or 0 outside
 *     dx[n][c][q]   = sum over t:  dy[n][c][t][p] */
#include "ops/plain/plain.h"
#include "ops/plain/window.h"

/* The sizes of one plane of x and y. */
struct plane {
    size_t pixels, taps, places;
};

static struct plane plane_of(const struct psd_columns_spec *s)
{
    return (struct plane){psd_plain_window_count(s, s->size), psd_plain_window_count(s, s->kernel),
                          psd_plain_window_count(s, s->out)};
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_columns_spec *s = &op->spec.columns;
    const float *x = psd_tensor_host(values->in[0]);
    float *y = psd_tensor_host(values->out[0]);
    struct plane plane = plane_of(s);

    for (size_t i = 0; i < s->batch * s->channels; i++, x += plane.pixels) {
        for (size_t t = 0; t < plane.taps; t++) {
            for (size_t p = 0; p < plane.places; p++) {
                size_t q = 0;
                bool inside = psd_plain_window_pixel(s, p, t, &q);
                *y++ = inside ? x[q] : 0;
            }
        }
    }
    return PSD_OK;
}

static double pixel_gradient(const struct psd_columns_spec *s, struct plane plane, const float *dy,
                             size_t q)
{
    double sum = 0;
    size_t p;

    for (size_t t = 0; t < plane.taps; t++) {
        if (psd_plain_window_place(s, q, t, &p))
            sum += (double)dy[t * plane.places + p];
    }
    return sum;
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct psd_columns_spec *s = &op->spec.columns;
    const float *dy = psd_tensor_host(values->out_diff[0]);
    struct psd_plain_diff dx = psd_plain_diff(values, 0);
    struct plane plane = plane_of(s);

    for (size_t i = 0; dx.to && i < s->batch * s->channels; i++, dy += plane.taps * plane.places) {
        for (size_t q = 0; q < plane.pixels; q++)
            psd_plain_put(dx, i * plane.pixels + q, pixel_gradient(s, plane, dy, q));
    }
    return PSD_OK;
}

const struct psd_op_code psd_plain_columns = {.forward = forward, .backward = backward};
