/* bits.h - sets of up to 64 things as the bits of a number, and the runs in them.
 *
 *     0b1101110   runs: 1 to 3, 5 to 6 */
#ifndef PSD_COMM_BITS_H
#define PSD_COMM_BITS_H

#include <stdint.h>

/* The first `count` things, 0 to 64. */
static inline uint64_t psd_bits_all(uint32_t count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* Takes the first run out of the set: where it begins, and its length; 0: the set is empty. */
static inline uint32_t psd_bits_take_run(uint64_t *bits, uint32_t *first)
{
    if (*bits == 0)
        return 0;
    *first = (uint32_t)__builtin_ctzll(*bits);
    uint64_t behind = ~(*bits >> *first);
    uint32_t count = behind ? (uint32_t)__builtin_ctzll(behind) : 64;
    *bits &= ~(psd_bits_all(count) << *first);
    return count;
}

#endif
