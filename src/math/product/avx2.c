/* avx2.c - the kernel for AVX2 with FMA: 8 lanes, 16 registers. */
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

enum { LANES = 8 };

typedef __m256 lanes;

INLINE lanes lanes_load(const float *from)
{
    return _mm256_loadu_ps(from);
}

INLINE void lanes_store(float *to, lanes x)
{
    _mm256_storeu_ps(to, x);
}

INLINE lanes lanes_spread(const float *from)
{
    return _mm256_set1_ps(*from);
}

INLINE lanes lanes_fma(lanes a, lanes b, lanes c)
{
    return _mm256_fmadd_ps(a, b, c);
}

typedef __m256d wide;

INLINE void wide_load(const float *from, wide *to)
{
    *to = _mm256_cvtps_pd(_mm_loadu_ps(from));
}

INLINE void wide_add(const wide *a, const wide *b, wide *sum)
{
    *sum = _mm256_fmadd_pd(*a, *b, *sum);
}

#include "math/product/norm.h"
#include "math/product/tile.h"

static bool usable(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct psd_product_kernel psd_product_avx2 = {.name = "avx2",
                                                    .usable = usable,
                                                    .width = WIDTH,
                                                    .pack = PACK,
                                                    .multiply = MULTIPLY,
                                                    .dots = dots,
                                                    .weigh = weigh};
