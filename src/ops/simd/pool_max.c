/* pool_max.c - the largest value of each window. What wins is kept as the number of its tap, row by
 * row; of equal values the first wins, since a later one must be larger. */
#include "base/alloc.h"
#include "ops/simd/lanes.h"
#include "ops/simd/pool.h"

#include <math.h>
#include <string.h>

psd_status psd_simd_pool_max_init(struct psd_simd_pool *p)
{
    const struct psd_pool_spec *s = p->s;

    for (size_t i = 0; i < p->tasks * p->plane; i++)
        p->padded[i] = -INFINITY;
    for (size_t i = 0; i < s->kernel[0] * s->kernel[1]; i++)
        p->tap[i] = (unsigned)(i / s->kernel[1] * s->width + i % s->kernel[1]);
    p->best = psd_alloc(s->planes * s->out_height * s->out_width);
    return p->best ? PSD_OK : PSD_ENOMEM;
}

/* Eight windows; the stride is a constant, or unknown. */
PSD_SIMD_INLINE __m256 largest(const struct psd_simd_pool *p, const float *x, size_t stride,
                               __m256 *winner)
{
    __m256 best = psd_simd_load_apart(x, stride);
    __m256 number = _mm256_setzero_ps(), tap = number;

    for (size_t h = 0; h < p->s->kernel[0]; h++) {
        for (size_t w = 0; w < p->s->kernel[1]; w++) {
            __m256 value = psd_simd_load_apart(x + h * p->row + w, stride);
            __m256 larger = _mm256_cmp_ps(value, best, _CMP_GT_OQ);
            best = _mm256_blendv_ps(best, value, larger);
            number = _mm256_blendv_ps(number, tap, larger);
            tap = _mm256_add_ps(tap, _mm256_set1_ps(1));
        }
    }
    *winner = psd_simd_in_order(number, stride);
    return psd_simd_in_order(best, stride);
}

PSD_SIMD_INLINE void store_bytes(unsigned char *to, __m256 numbers, size_t count)
{
    __m256i words = _mm256_cvtps_epi32(numbers);
    __m128i shorts =
        _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    uint64_t bytes = (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(shorts, shorts));

    if (count >= PSD_SIMD_LANES)
        memcpy(to, &bytes, sizeof bytes);
    else
        memcpy(to, &bytes, count);
}

/* One row of windows. Its last vector may reach into the next row, which is written later, but not
 * beyond the `left` windows of the plane. */
PSD_SIMD_INLINE void pool_row(const struct psd_simd_pool *p, const float *x, size_t stride,
                              float *y, unsigned char *best, size_t left)
{
    for (size_t w = 0; w < p->s->out_width; w += PSD_SIMD_LANES) {
        __m256 number;
        __m256 value = largest(p, x + w * stride, stride, &number);
        psd_simd_store(y + w, value, left - w);
        store_bytes(best + w, number, left - w);
    }
}

PSD_SIMD void psd_simd_pool_max(const struct psd_simd_pool *p, const float *padded, float *y,
                                unsigned char *best)
{
    size_t width = p->s->out_width, stride = p->s->stride[1];

    for (size_t h = 0; h < p->s->out_height; h++, y += width, best += width) {
        const float *x = padded + h * p->s->stride[0] * p->row;
        size_t left = (p->s->out_height - h) * width;
        if (stride == 1)
            pool_row(p, x, 1, y, best, left);
        else if (stride == 2)
            pool_row(p, x, 2, y, best, left);
        else
            pool_row(p, x, stride, y, best, left);
    }
}

/* Where in the plane the winner of a window is. The border wins only a window of nothing but
 * -infinity; the window's first pixel stands for it. */
static size_t place(const struct psd_simd_pool *p, size_t h, size_t w, unsigned char best)
{
    const size_t *kernel = p->s->kernel, *stride = p->s->stride, *pad = p->s->pad;
    size_t y = h * stride[0] + best / kernel[1], x = w * stride[1] + best % kernel[1];

    return (y > pad[0] ? y - pad[0] : 0) * p->s->width + (x > pad[1] ? x - pad[1] : 0);
}

void psd_simd_pool_max_places(const struct psd_simd_pool *p, const unsigned char *best,
                              float *places)
{
    for (size_t h = 0; h < p->s->out_height; h++) {
        for (size_t w = 0; w < p->s->out_width; w++)
            *places++ = (float)place(p, h, w, *best++);
    }
}

/* Without padding, the window's place and the tap's make it. */
static void hand_back_unpadded(const struct psd_simd_pool *p, const unsigned char *best,
                               const float *dy, float *dx)
{
    for (size_t h = 0; h < p->s->out_height; h++) {
        float *window = dx + h * p->s->stride[0] * p->s->width;
        for (size_t w = 0; w < p->s->out_width; w++, window += p->s->stride[1])
            window[p->tap[*best++]] += *dy++;
    }
}

void psd_simd_pool_max_back(const struct psd_simd_pool *p, const unsigned char *best,
                            const float *dy, float *dx)
{
    if (p->s->pad[0] == 0 && p->s->pad[1] == 0) {
        hand_back_unpadded(p, best, dy, dx);
        return;
    }
    for (size_t h = 0; h < p->s->out_height; h++) {
        for (size_t w = 0; w < p->s->out_width; w++)
            dx[place(p, h, w, *best++)] += *dy++;
    }
}
