/* avx512.c - the kernel for AVX-512: 16 lanes. Norms have 4 lanes by definition, as in avx2.c. */
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

enum { LANES = 16 };

typedef __m512 lanes;

INLINE lanes lanes_load(const float *from)
{
    return _mm512_loadu_ps(from);
}

INLINE void lanes_store(float *to, lanes x)
{
    _mm512_storeu_ps(to, x);
}

INLINE lanes lanes_spread(const float *from)
{
    return _mm512_set1_ps(*from);
}

INLINE lanes lanes_fma(lanes a, lanes b, lanes c)
{
    return _mm512_fmadd_ps(a, b, c);
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
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
}

const struct psd_product_kernel psd_product_avx512 = {.name = "avx512",
                                                      .usable = usable,
                                                      .width = WIDTH,
                                                      .pack = PACK,
                                                      .multiply = MULTIPLY,
                                                      .dots = dots,
                                                      .weigh = weigh};
