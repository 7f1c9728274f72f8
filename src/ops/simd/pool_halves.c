/* pool_halves.c - the largest value of windows of 2 x 2 side by side, which halve an image.
 *
 *     x  a b | c d | e f | g h      four windows, a quad, are eight values of two rows
 *        A B | C D | E F | G H
 *
 * Two quads that follow each other in the result make a vector, wherever they are in the image: so
 * rows of four windows fill vectors too. Windows do not overlap, so that the way back writes every
 * value of dx once. Taps are numbered 0 1 above 2 3. */
#include "ops/simd/lanes.h"
#include "ops/simd/pool.h"

enum { QUAD = 4 };

bool psd_simd_pool_halves_suits(const struct psd_pool_spec *s)
{
    for (int i = 0; i < 2; i++) {
        if (s->kernel[i] != 2 || s->stride[i] != 2 || s->pad[i] != 0)
            return false;
    }
    return s->method == PSD_POOL_MAX && s->height == 2 * s->out_height &&
           s->width == 2 * s->out_width && s->out_width % QUAD == 0 &&
           s->out_width * s->out_height % PSD_SIMD_LANES == 0;
}

/* Where the quad of window i begins in the image. */
static size_t place(const struct psd_pool_spec *s, size_t i)
{
    return i / s->out_width * 2 * s->width + i % s->out_width * 2;
}

/* The larger of each pair of neighbours in two quads, and all bits set where it is the second. */
PSD_SIMD_INLINE __m256 larger_of_pairs(const float *first, const float *second, __m256 *is_second)
{
    __m256 a = _mm256_loadu_ps(first), b = _mm256_loadu_ps(second);
    __m256 left = _mm256_shuffle_ps(a, b, 0x88), right = _mm256_shuffle_ps(a, b, 0xdd);

    *is_second = _mm256_cmp_ps(right, left, _CMP_GT_OQ);
    return _mm256_blendv_ps(left, right, *is_second);
}

/* Eight taps, in lanes of 32 bits, as eight bytes. */
PSD_SIMD_INLINE void store_taps(unsigned char *to, __m256i taps)
{
    __m128i shorts =
        _mm_packs_epi32(_mm256_castsi256_si128(taps), _mm256_extracti128_si256(taps, 1));

    _mm_storel_epi64((__m128i *)(void *)to, _mm_packus_epi16(shorts, shorts));
}

PSD_SIMD void psd_simd_pool_halves(const struct psd_simd_pool *p, const float *x, float *y,
                                   unsigned char *best)
{
    const size_t width = p->s->width, outputs = p->s->out_height * p->s->out_width;
    const __m256i one = _mm256_set1_epi32(1), two = _mm256_set1_epi32(2);

    for (size_t i = 0; i < outputs; i += PSD_SIMD_LANES) {
        const float *first = x + place(p->s, i), *second = x + place(p->s, i + QUAD);
        __m256 right_above, right_below;
        __m256 above = larger_of_pairs(first, second, &right_above);
        __m256 below = larger_of_pairs(first + width, second + width, &right_below);
        __m256 is_below = _mm256_cmp_ps(below, above, _CMP_GT_OQ);
        __m256 right = _mm256_blendv_ps(right_above, right_below, is_below);
        __m256i taps = _mm256_or_si256(_mm256_and_si256(_mm256_castps_si256(right), one),
                                       _mm256_and_si256(_mm256_castps_si256(is_below), two));
        _mm256_storeu_ps(y + i, psd_simd_in_order(_mm256_blendv_ps(above, below, is_below), 2));
        store_taps(best + i, _mm256_permute4x64_epi64(taps, 0xd8));
    }
}

/* dy of the windows that a tap has won; 0 in the others. */
PSD_SIMD_INLINE __m256 won(__m256 dy, __m256i taps, int tap)
{
    return _mm256_and_ps(dy, _mm256_castsi256_ps(_mm256_cmpeq_epi32(taps, _mm256_set1_epi32(tap))));
}

PSD_SIMD_INLINE void put(float *to, __m256 values, bool adds)
{
    _mm256_storeu_ps(to, adds ? _mm256_add_ps(_mm256_loadu_ps(to), values) : values);
}

/* A row of two quads, from those that are left and right in their windows. */
PSD_SIMD_INLINE void put_row(float *first, float *second, __m256 left, __m256 right, bool adds)
{
    __m256 low = _mm256_unpacklo_ps(left, right), high = _mm256_unpackhi_ps(left, right);

    put(first, _mm256_permute2f128_ps(low, high, 0x20), adds);
    put(second, _mm256_permute2f128_ps(low, high, 0x31), adds);
}

PSD_SIMD void psd_simd_pool_halves_back(const struct psd_simd_pool *p, const unsigned char *best,
                                        const float *dy, bool adds, float *dx)
{
    const size_t width = p->s->width, outputs = p->s->out_height * p->s->out_width;

    for (size_t i = 0; i < outputs; i += PSD_SIMD_LANES) {
        float *first = dx + place(p->s, i), *second = dx + place(p->s, i + QUAD);
        __m256 values = _mm256_loadu_ps(dy + i);
        __m256i taps =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(best + i)));
        put_row(first, second, won(values, taps, 0), won(values, taps, 1), adds);
        put_row(first + width, second + width, won(values, taps, 2), won(values, taps, 3), adds);
    }
}
