/* pool_average.c - the average of each window, and its gradient, which is a sum over windows:
 *
 *     rows of dy / area that see a row of pixels      a    b    c
 *     added up, and set `stride` apart                0 0 a 0 b 0 c 0 0
 *     added up again, `kernel` wide                     . a a+b b b+c c .        dx
 *
 * The gaps of `apart` are 0 from the start and never written. */
#include "base/alloc.h"
#include "ops/simd/lanes.h"
#include "ops/simd/pool.h"

/* --- plan ------------------------------------------------------------------------------------*/

/* Pixels of a window along one axis, up to the end of the padding. */
static size_t extent(const struct psd_pool_spec *s, int axis, size_t out)
{
    size_t end = (axis ? s->width : s->height) + 2 * s->pad[axis];
    size_t from = out * s->stride[axis], to = from + s->kernel[axis];

    return (to < end ? to : end) - from;
}

psd_status psd_simd_pool_average_init(struct psd_simd_pool *p)
{
    const struct psd_pool_spec *s = p->s;

    p->apart_row = s->kernel[1] + s->width + s->pad[1] + PSD_SIMD_LANES;
    if (p->apart_row < s->kernel[1] + s->out_width * s->stride[1])
        p->apart_row = s->kernel[1] + s->out_width * s->stride[1];
    p->apart_plane = p->apart_row * s->height;
    p->apart = psd_simd_zero_floats(p->tasks * p->apart_plane);
    p->share = psd_simd_floats(s->out_height * s->out_width);
    if (!p->apart || !p->share)
        return PSD_ENOMEM;
    for (size_t h = 0; h < s->out_height; h++) {
        for (size_t w = 0; w < s->out_width; w++)
            p->share[h * s->out_width + w] = 1 / (float)(extent(s, 0, h) * extent(s, 1, w));
    }
    return PSD_OK;
}

/* --- forward ---------------------------------------------------------------------------------*/

/* Eight windows; the stride is a constant, or unknown. */
PSD_SIMD_INLINE __m256 sum(const struct psd_simd_pool *p, const float *x, size_t stride)
{
    __m256 total = _mm256_setzero_ps();

    for (size_t h = 0; h < p->s->kernel[0]; h++) {
        for (size_t w = 0; w < p->s->kernel[1]; w++)
            total = _mm256_add_ps(total, psd_simd_load_apart(x + h * p->row + w, stride));
    }
    return psd_simd_in_order(total, stride);
}

/* One row of windows. Its last vector may reach into the next row, which is written later, but not
 * beyond the `left` windows of the plane. */
PSD_SIMD_INLINE void pool_row(const struct psd_simd_pool *p, const float *x, size_t stride,
                              const float *share, float *y, size_t left)
{
    for (size_t w = 0; w < p->s->out_width; w += PSD_SIMD_LANES) {
        __m256 parts = _mm256_maskload_ps(share + w, psd_simd_mask(p->s->out_width - w));
        __m256 value = _mm256_mul_ps(sum(p, x + w * stride, stride), parts);
        psd_simd_store(y + w, value, left - w);
    }
}

PSD_SIMD void psd_simd_pool_average(const struct psd_simd_pool *p, const float *padded, float *y)
{
    size_t width = p->s->out_width, stride = p->s->stride[1];

    for (size_t h = 0; h < p->s->out_height; h++, y += width) {
        const float *x = padded + h * p->s->stride[0] * p->row, *share = p->share + h * width;
        size_t left = (p->s->out_height - h) * width;
        if (stride == 1)
            pool_row(p, x, 1, share, y, left);
        else if (stride == 2)
            pool_row(p, x, 2, share, y, left);
        else
            pool_row(p, x, stride, share, y, left);
    }
}

/* --- backward --------------------------------------------------------------------------------*/

/* What a row of pixels gets from the windows of each column that see it. */
static void add_down(const struct psd_simd_pool *p, const float *dy, size_t h, float *apart)
{
    const struct psd_pool_spec *s = p->s;
    size_t y = h + s->pad[0], first = y < s->kernel[0] ? 0 : (y - s->kernel[0]) / s->stride[0] + 1;
    size_t end = y / s->stride[0] + 1 < s->out_height ? y / s->stride[0] + 1 : s->out_height;

    for (size_t w = 0; w < s->out_width; w++) {
        float total = 0;
        for (size_t i = first * s->out_width + w; i < end * s->out_width; i += s->out_width)
            total += dy[i] * p->share[i];
        apart[s->kernel[1] - 1 + w * s->stride[1]] = total;
    }
}

/* Sums of `kernel` neighbours. */
PSD_SIMD static void add_along(const struct psd_simd_pool *p, const float *apart, bool adds,
                               float *dx)
{
    const struct psd_pool_spec *s = p->s;

    for (size_t w = 0; w < s->width; w += PSD_SIMD_LANES) {
        size_t left = s->width - w;
        __m256 total = adds ? _mm256_maskload_ps(dx + w, psd_simd_mask(left)) : _mm256_setzero_ps();
        for (size_t i = 0; i < s->kernel[1]; i++)
            total = _mm256_add_ps(total, _mm256_loadu_ps(apart + s->pad[1] + w + i));
        psd_simd_store(dx + w, total, left);
    }
}

/* First all rows down, then all along: what was just written in parts is slow to read as a vector. */
void psd_simd_pool_average_back(const struct psd_simd_pool *p, const float *dy, float *apart,
                                bool adds, float *dx)
{
    for (size_t h = 0; h < p->s->height; h++)
        add_down(p, dy, h, apart + h * p->apart_row);
    for (size_t h = 0; h < p->s->height; h++)
        add_along(p, apart + h * p->apart_row, adds, dx + h * p->s->width);
}
