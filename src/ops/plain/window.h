/* window.h - where a window's taps are, along any number of axes.
 *
 *     q = p * stride - pad + t * dilation        on each axis: the pixel q of the image, under tap t
 *                                                of the window at place p
 *
 * Pixels, taps and places are numbered through, the last axis first. */
#ifndef PSD_OPS_PLAIN_WINDOW_H
#define PSD_OPS_PLAIN_WINDOW_H

#include "ops/ops.h"

static inline size_t psd_plain_window_count(const struct psd_columns_spec *s, const size_t *sizes)
{
    size_t count = 1;

    for (size_t i = 0; i < s->axes; i++)
        count *= sizes[i];
    return count;
}

/* The pixel under tap t at place p; false: that is outside of the image. */
static inline bool psd_plain_window_pixel(const struct psd_columns_spec *s, size_t p, size_t t,
                                          size_t *pixel)
{
    size_t at = 0, step = 1;

    for (size_t i = s->axes; i-- > 0;) {
        size_t q = p % s->out[i] * s->stride[i] + t % s->kernel[i] * s->dilation[i];
        if (q < s->pad[i] || q - s->pad[i] >= s->size[i])
            return false;
        at += (q - s->pad[i]) * step;
        step *= s->size[i];
        p /= s->out[i];
        t /= s->kernel[i];
    }
    *pixel = at;
    return true;
}

/* The other way round: the place at which tap t is over pixel q; false: there is none. */
static inline bool psd_plain_window_place(const struct psd_columns_spec *s, size_t q, size_t t,
                                          size_t *place)
{
    size_t at = 0, step = 1;

    for (size_t i = s->axes; i-- > 0;) {
        size_t padded = q % s->size[i] + s->pad[i], tap = t % s->kernel[i] * s->dilation[i];
        if (padded < tap || (padded - tap) % s->stride[i] ||
            (padded - tap) / s->stride[i] >= s->out[i])
            return false;
        at += (padded - tap) / s->stride[i] * step;
        step *= s->out[i];
        q /= s->size[i];
        t /= s->kernel[i];
    }
    *place = at;
    return true;
}

#endif
