/* random_avx2.c - random numbers by four, in lanes of 64 bits.
 *
 * Every operation of random.c is done in its order on four values, and rounded as it is there, so
 * results have the same bits. A product of 32 by 32 bits has its lane for itself; of a word the upper
 * half of a lane is of no account until words are put together. */
#include "base/random_way.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))

enum { LANES = 4 };

static bool usable(void)
{
    return __builtin_cpu_supports("avx2");
}

/* --- blocks ------------------------------------------------------------------------------------ */

/* Word by word: x[0] has the first words of four blocks. */
INLINE void encipher(uint64_t seed, __m256i x[4])
{
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);

    for (int round = 0; round < PSD_RANDOM_ROUNDS; round++) {
        __m256i of_a = _mm256_mul_epu32(x[0], _mm256_set1_epi64x(PSD_RANDOM_FACTOR_A));
        __m256i of_c = _mm256_mul_epu32(x[2], _mm256_set1_epi64x(PSD_RANDOM_FACTOR_C));
        __m256i with_b = _mm256_xor_si256(x[1], _mm256_set1_epi64x(key0));
        __m256i with_d = _mm256_xor_si256(x[3], _mm256_set1_epi64x(key1));

        x[0] = _mm256_xor_si256(_mm256_srli_epi64(of_c, 32), with_b);
        x[1] = of_c;
        x[2] = _mm256_xor_si256(_mm256_srli_epi64(of_a, 32), with_d);
        x[3] = of_a;
        key0 += PSD_RANDOM_KEY_0;
        key1 += PSD_RANDOM_KEY_1;
    }
}

/* The lower halves of a and b, next to each other. */
INLINE __m256i pair(__m256i a, __m256i b)
{
    return _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa);
}

INLINE void store(const __m256i x[4], uint32_t (*out)[4])
{
    __m256i first = pair(x[0], x[1]), second = pair(x[2], x[3]);
    __m256i even = _mm256_unpacklo_epi64(first, second); /* blocks 0 and 2 */
    __m256i odd = _mm256_unpackhi_epi64(first, second);  /* blocks 1 and 3 */

    _mm256_storeu_si256((__m256i *)out[0], _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)out[2], _mm256_permute2x128_si256(even, odd, 0x31));
}

TARGET static void blocks(uint64_t seed, uint64_t stream, uint64_t index, size_t count,
                          uint32_t (*out)[4])
{
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);

    for (size_t i = 0; i < count; i += LANES, index += LANES) {
        __m256i at = _mm256_add_epi64(_mm256_set1_epi64x((long long)index), lane);
        __m256i x[4] = {at, _mm256_srli_epi64(at, 32), _mm256_set1_epi64x((long long)stream),
                        _mm256_set1_epi64x((long long)(stream >> 32))};
        encipher(seed, x);
        store(x, out + i);
    }
}

/* --- what is made of words --------------------------------------------------------------------- */

INLINE __m256d ratio_at(const struct psd_random_ratio *ratio, __m256d x)
{
    __m256d above = _mm256_set1_pd(ratio->above[0]), below = _mm256_set1_pd(ratio->below[0]);

    for (int i = 1; i < 8; i++) {
        above = _mm256_add_pd(_mm256_mul_pd(above, x), _mm256_set1_pd(ratio->above[i]));
        below = _mm256_add_pd(_mm256_mul_pd(below, x), _mm256_set1_pd(ratio->below[i]));
    }
    return _mm256_div_pd(above, below);
}

/* Doubles p until it is near 1, which only its exponent notices. Returns how often. */
INLINE __m256d double_until_near_1(__m256d *p)
{
    const __m256i half = _mm256_set1_epi64x(INT64_C(1022) << 52); /* the exponent of 1/2 */
    const __m256i fraction = _mm256_set1_epi64x((INT64_C(1) << 52) - 1);
    const __m256i shift = _mm256_castpd_si256(_mm256_set1_pd(0x1p52));
    const __m256d one = _mm256_set1_pd(1);
    __m256i bits = _mm256_castpd_si256(*p);

    __m256i exponent = _mm256_or_si256(_mm256_srli_epi64(bits, 52), shift); /* 2^52 + exponent */
    __m256d doublings = _mm256_sub_pd(_mm256_set1_pd(0x1p52 + 1022), _mm256_castsi256_pd(exponent));
    __m256d q = _mm256_castsi256_pd(_mm256_or_si256(_mm256_and_si256(bits, fraction), half));
    __m256d again = _mm256_cmp_pd(q, _mm256_set1_pd(PSD_RANDOM_NEAR_1), _CMP_LT_OQ);
    *p = _mm256_blendv_pd(q, _mm256_add_pd(q, q), again);
    return _mm256_add_pd(doublings, _mm256_and_pd(again, one));
}

INLINE __m256d minus_log(__m256d p)
{
    const __m256d one = _mm256_set1_pd(1);
    __m256d doublings = double_until_near_1(&p);
    __m256d s = _mm256_div_pd(_mm256_sub_pd(p, one), _mm256_add_pd(p, one));
    __m256d square = _mm256_mul_pd(s, s);
    __m256d sum = _mm256_set1_pd(1.0 / (2 * PSD_RANDOM_TERMS - 1));

    for (int power = 2 * PSD_RANDOM_TERMS - 3; power > 0; power -= 2)
        sum = _mm256_add_pd(_mm256_mul_pd(sum, square), _mm256_set1_pd(1.0 / power));
    return _mm256_sub_pd(_mm256_mul_pd(doublings, _mm256_set1_pd(PSD_RANDOM_LOG_OF_2)),
                         _mm256_mul_pd(_mm256_add_pd(s, s), sum));
}

/* Both ranges; of four values half the time none is near the ends. */
INLINE __m128 normal_of(__m128i words)
{
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d above_middle =
        _mm256_cvtepi32_pd(_mm_xor_si128(words, _mm_set1_epi32(INT32_MIN))); /* word - 2^31 */
    __m256d from_middle =
        _mm256_mul_pd(_mm256_add_pd(above_middle, _mm256_set1_pd(0.5)), _mm256_set1_pd(0x1p-32));
    __m256d distance = _mm256_andnot_pd(sign, from_middle);
    __m256d far = _mm256_cmp_pd(distance, _mm256_set1_pd(PSD_RANDOM_MIDDLE), _CMP_GT_OQ);
    __m256d x =
        _mm256_sub_pd(_mm256_set1_pd(PSD_RANDOM_SQUARE), _mm256_mul_pd(from_middle, from_middle));
    __m256d value = _mm256_mul_pd(from_middle, ratio_at(&psd_random_near_middle, x));

    if (_mm256_movemask_pd(far)) {
        __m256d root = _mm256_sqrt_pd(minus_log(_mm256_sub_pd(_mm256_set1_pd(0.5), distance)));
        x = _mm256_sub_pd(root, _mm256_set1_pd(PSD_RANDOM_ROOT));
        __m256d size = ratio_at(&psd_random_near_ends, x);
        size = _mm256_or_pd(size, _mm256_and_pd(from_middle, sign));
        value = _mm256_blendv_pd(value, size, far);
    }
    return _mm256_cvtpd_ps(value);
}

INLINE __m128 uniform_of(__m128i words)
{
    return _mm_mul_ps(_mm_cvtepi32_ps(_mm_srli_epi32(words, 8)), _mm_set1_ps(0x1p-24f));
}

INLINE void four(const uint32_t *words, bool normal, float *out)
{
    __m128i x = _mm_loadu_si128((const __m128i *)words);

    _mm_storeu_ps(out, normal ? normal_of(x) : uniform_of(x));
}

/* For templates. The last words, fewer than four, go through a place of their own. */
INLINE void each(const uint32_t *words, size_t count, bool normal, float *out)
{
    uint32_t from[LANES] = {0};
    float to[LANES];

    for (; count >= LANES; words += LANES, out += LANES, count -= LANES)
        four(words, normal, out);
    if (count == 0)
        return;
    memcpy(from, words, count * sizeof *from);
    four(from, normal, to);
    memcpy(out, to, count * sizeof *to);
}

TARGET static void uniform(const uint32_t *words, size_t count, float *out)
{
    each(words, count, false, out);
}

TARGET static void normal(const uint32_t *words, size_t count, float *out)
{
    each(words, count, true, out);
}

const struct psd_random_way psd_random_avx2 = {"avx2", usable, blocks, uniform, normal};
