/* random.c - Philox, and what is made of its words.
 *
 * J. Salmon, M. Moraes, R. Dror, D. Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011).
 * M. Wichura: Algorithm AS 241, The Percentage Points of the Normal Distribution (1988). */
#include "base/random.h"
#include "base/random_way.h"

#include <assert.h>
#include <math.h>

static uint32_t low(uint64_t value)
{
    return (uint32_t)value;
}

static uint32_t high(uint64_t value)
{
    return (uint32_t)(value >> 32);
}

/* Ten rounds over a block; for each key this is a permutation of all blocks. */
static void encipher(uint64_t seed, uint32_t block[4])
{
    uint32_t key0 = low(seed), key1 = high(seed);
    uint32_t a = block[0], b = block[1], c = block[2], d = block[3];

    for (int round = 0; round < PSD_RANDOM_ROUNDS; round++) {
        uint64_t of_a = (uint64_t)PSD_RANDOM_FACTOR_A * a;
        uint64_t of_c = (uint64_t)PSD_RANDOM_FACTOR_C * c;

        a = high(of_c) ^ b ^ key0;
        b = low(of_c);
        c = high(of_a) ^ d ^ key1;
        d = low(of_a);
        key0 += PSD_RANDOM_KEY_0;
        key1 += PSD_RANDOM_KEY_1;
    }
    block[0] = a, block[1] = b, block[2] = c, block[3] = d;
}

void psd_random_block(uint64_t seed, uint64_t stream, uint64_t index, uint32_t out[4])
{
    out[0] = low(index);
    out[1] = high(index);
    out[2] = low(stream);
    out[3] = high(stream);
    encipher(seed, out);
}

uint32_t psd_random_u32(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t block[4];

    psd_random_block(seed, stream, index / 4, block);
    return block[index % 4];
}

static float uniform_of(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

/* -log(p) for 0 < p < 1/2: p is doubled, which is exact, until it is near 1, where the series
 * log(p) = 2 (s + s^3/3 + s^5/5 + ...) with s = (p - 1) / (p + 1), |s| < 0.172, ends quickly. */
static double minus_log(double p)
{
    double doublings = 0, sum = 0;

    while (p < PSD_RANDOM_NEAR_1) {
        p *= 2;
        doublings++;
    }
    double s = (p - 1) / (p + 1);
    for (int power = 2 * PSD_RANDOM_TERMS - 1; power > 0; power -= 2)
        sum = sum * (s * s) + 1.0 / power;
    return doublings * PSD_RANDOM_LOG_OF_2 - 2 * s * sum;
}

const struct psd_random_ratio psd_random_near_middle = {
    {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
     4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
     1.3314166789178437745e+2, 3.3871328727963666080e+0},
    {5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
     2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
     4.2313330701600911252e+1, 1.0},
};

const struct psd_random_ratio psd_random_near_ends = {
    {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
     4.63033784615654529590e+0, 1.42343711074968357734e+0},
    {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e+0,
     2.05319162663775882187e+0, 1.0},
};

static double ratio_at(const struct psd_random_ratio *ratio, double x)
{
    double above = 0, below = 0;

    for (int i = 0; i < 8; i++) {
        above = above * x + ratio->above[i];
        below = below * x + ratio->below[i];
    }
    return above / below;
}

/* The quantile of p = (word + 1/2) / 2^32, by AS 241. Its third range, p below 1.4e-11, is out of
 * the reach of 32 bits. The distance of p from 1/2, and of 1 - p, is exact. */
static float normal_of(uint32_t word)
{
    double from_middle = ((double)word + 0.5) * 0x1p-32 - 0.5;

    if (fabs(from_middle) <= PSD_RANDOM_MIDDLE)
        return (float)(from_middle * ratio_at(&psd_random_near_middle,
                                              PSD_RANDOM_SQUARE - from_middle * from_middle));
    double from_end = 0.5 - fabs(from_middle);
    double size = ratio_at(&psd_random_near_ends, sqrt(minus_log(from_end)) - PSD_RANDOM_ROOT);
    return (float)(from_middle < 0 ? -size : size);
}

float psd_random_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return uniform_of(psd_random_u32(seed, stream, index));
}

float psd_random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    return normal_of(psd_random_u32(seed, stream, index));
}

/* The lowest 2^64 mod n values are refused: those left are a multiple of n, so the remainder
 * favours none. A refused block is enciphered again, so what comes next depends on nothing new. */
uint64_t psd_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n)
{
    uint32_t block[4];
    uint64_t value;

    assert(n > 0);
    uint64_t refused = (0 - n) % n; /* 2^64 mod n */
    psd_random_block(seed, stream, index, block);
    while (value = (uint64_t)block[1] << 32 | block[0], value < refused)
        encipher(seed, block);
    return value % n;
}

/* --- many at once ------------------------------------------------------------------------------ */

static bool plain_usable(void)
{
    return true;
}

static void plain_blocks(uint64_t seed, uint64_t stream, uint64_t index, size_t count,
                         uint32_t (*out)[4])
{
    for (size_t i = 0; i < count; i++)
        psd_random_block(seed, stream, index + i, out[i]);
}

static void plain_uniform(const uint32_t *words, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = uniform_of(words[i]);
}

static void plain_normal(const uint32_t *words, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = normal_of(words[i]);
}

const struct psd_random_way psd_random_plain = {"plain", plain_usable, plain_blocks, plain_uniform,
                                                plain_normal};

const struct psd_random_way *const psd_random_ways[] = {
/* best first */
#if defined(__x86_64__)
    &psd_random_avx2,
#endif
    &psd_random_plain, /* runs anywhere */
    NULL,
};

/* The best that this processor can run. */
static const struct psd_random_way *choose(void)
{
    for (size_t i = 0; psd_random_ways[i]; i++) {
        if (psd_random_ways[i]->usable())
            return psd_random_ways[i];
    }
    return &psd_random_plain;
}

/* Each block serves four neighbours; the first and the last may be used in part. */
static void fill(uint64_t seed, uint64_t stream, uint64_t first_index, size_t count, bool normal,
                 float *out)
{
    enum { BLOCKS = 64, WORDS = 4 * BLOCKS };
    const struct psd_random_way *way = choose();
    uint32_t blocks[BLOCKS][4];

    while (count > 0) {
        size_t skipped = first_index % 4, now = count < WORDS - skipped ? count : WORDS - skipped;
        size_t needed = (skipped + now + 3) / 4 + PSD_RANDOM_BLOCKS - 1;
        way->blocks(seed, stream, first_index / 4, needed / PSD_RANDOM_BLOCKS * PSD_RANDOM_BLOCKS,
                    blocks);
        (normal ? way->normal : way->uniform)(&blocks[0][skipped], now, out);
        first_index += now;
        count -= now;
        out += now;
    }
}

void psd_random_fill_uniform(uint64_t seed, uint64_t stream, uint64_t first_index, size_t count,
                             float *out)
{
    fill(seed, stream, first_index, count, false, out);
}

void psd_random_fill_normal(uint64_t seed, uint64_t stream, uint64_t first_index, size_t count,
                            float *out)
{
    fill(seed, stream, first_index, count, true, out);
}
