/* random_way.h - the ways in which many random numbers are made at once, of which a processor runs the
 * best it can.
 *
 *     random_avx2.c       four at a time
 *     random.c            one by one; runs anywhere. The list
 *
 * All give the same bits; random_test.c compares those that this processor can run. */
#ifndef PSD_BASE_RANDOM_WAY_H
#define PSD_BASE_RANDOM_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd_random_way {
    const char *name;
    bool (*usable)(void); /* whether this processor can run it */

    /* The blocks `index`, index + 1 ... of a stream. `count` is a multiple of PSD_RANDOM_BLOCKS. */
    void (*blocks)(uint64_t seed, uint64_t stream, uint64_t index, size_t count,
                   uint32_t (*out)[4]);

    /* What psd_random_uniform and psd_random_normal make of each word. */
    void (*uniform)(const uint32_t *words, size_t count, float *out);
    void (*normal)(const uint32_t *words, size_t count, float *out);
};

enum { PSD_RANDOM_BLOCKS = 4 }; /* that a way may make together */

/* All that are built, best first; ends with NULL. */
extern const struct psd_random_way *const psd_random_ways[];

extern const struct psd_random_way psd_random_avx2, psd_random_plain;

/* What every way computes with. Philox multiplies by the factors, and adds the others to its key after
 * each of its rounds. */
#define PSD_RANDOM_FACTOR_A UINT32_C(0xD2511F53)
#define PSD_RANDOM_FACTOR_C UINT32_C(0xCD9E8D57)
#define PSD_RANDOM_KEY_0    UINT32_C(0x9E3779B9)
#define PSD_RANDOM_KEY_1    UINT32_C(0xBB67AE85)
enum { PSD_RANDOM_ROUNDS = 10 };

/* A ratio of two polynomials of degree 7, coefficients from the highest power down. AS 241 has one for
 * p whose distance from 1/2 is at most MIDDLE, of MIDDLE^2 less the square of that distance, and one
 * for the others, of the root of -log(p) less ROOT, or of 1 - p. */
struct psd_random_ratio {
    double above[8], below[8];
};
extern const struct psd_random_ratio psd_random_near_middle, psd_random_near_ends;
#define PSD_RANDOM_MIDDLE 0.425
#define PSD_RANDOM_SQUARE 0.180625
#define PSD_RANDOM_ROOT   1.6

/* For logarithms: where doubling ends, and the terms of their series. */
#define PSD_RANDOM_NEAR_1   0.70710678
#define PSD_RANDOM_LOG_OF_2 0.693147180559945309417
enum { PSD_RANDOM_TERMS = 11 };

#endif
