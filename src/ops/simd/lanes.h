/* lanes.h - what the loops over vectors of eight floats have in common. */
#ifndef PSD_OPS_SIMD_LANES_H
#define PSD_OPS_SIMD_LANES_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions that use the instructions beyond x86-64; the others run on any. */
#define PSD_SIMD __attribute__((target("avx2,fma")))

/* For templates: a call with constants becomes a function of its own. */
#define PSD_SIMD_INLINE PSD_SIMD static inline __attribute__((always_inline))

/* Before a loop over registers, which must disappear: an array whose index the compiler does not
 * know lives in memory. */
#ifdef __clang__
#define PSD_SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PSD_SIMD_UNROLL _Pragma("GCC unroll 8")
#endif

enum { PSD_SIMD_LANES = 8 };

/* All bits set in the first `count` lanes. */
PSD_SIMD_INLINE __m256i psd_simd_mask(size_t count)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), lane);
}

/* Stores the first `count` lanes, 1 to 8. Stores by mask are slow, and rarely needed. */
PSD_SIMD_INLINE void psd_simd_store(float *to, __m256 values, size_t count)
{
    if (count >= PSD_SIMD_LANES)
        _mm256_storeu_ps(to, values);
    else
        _mm256_maskstore_ps(to, psd_simd_mask(count), values);
}

/* Eight values `stride` apart. With stride 2 they come as 0 1 4 5 2 3 6 7, from 16 values; results
 * of several of these are put in order once, at the end. */
PSD_SIMD_INLINE __m256 psd_simd_load_apart(const float *from, size_t stride)
{
    if (stride == 1)
        return _mm256_loadu_ps(from);
    if (stride == 2)
        return _mm256_shuffle_ps(_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8), 0x88);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_i32gather_ps(from, _mm256_mullo_epi32(lane, _mm256_set1_epi32((int)stride)), 4);
}

PSD_SIMD_INLINE __m256 psd_simd_in_order(__m256 values, size_t stride)
{
    if (stride != 2)
        return values;
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(values), 0xd8));
}

#endif
