/* strange_bytes.h - what strangers say, drawn from a seed: nonsense, and what was right before a few bytes
 * were changed. */
#ifndef PSD_TESTS_STRANGE_BYTES_H
#define PSD_TESTS_STRANGE_BYTES_H

#include "base/random.h"
#include "net/tcp/hello.h"

#include <string.h>

static inline uint64_t strange_draw(uint64_t seed, uint64_t index, uint64_t below)
{
    return psd_random_below(seed, 9, index, below);
}

static inline void strange_fill(unsigned char *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)psd_random_u32(seed, 10, i);
}

/* Changes a few bytes, or the length; says how many there are then. */
static inline size_t strange_mutate(unsigned char *bytes, size_t count, uint64_t seed)
{
    uint64_t times = 1 + strange_draw(seed, 0, 4);

    for (uint64_t i = 1; i <= times; i++)
        bytes[strange_draw(seed, 3 * i, count)] ^=
            (unsigned char)(1 + strange_draw(seed, 3 * i + 1, 255));
    return strange_draw(seed, 1, 8) ? count : 1 + (size_t)strange_draw(seed, 2, count);
}

/* A client's first record, of nonsense; every other looks like one, and gets further. */
static inline size_t strange_hello(unsigned char bytes[PSD_HELLO + 1], uint64_t seed)
{
    size_t count = 1 + (size_t)strange_draw(seed, 0, PSD_HELLO);

    strange_fill(bytes, count, seed);
    if (strange_draw(seed, 1, 2) && count > 9) {
        const unsigned char head[9] = {22,
                                       3,
                                       1,
                                       (unsigned char)((count - 5) >> 8),
                                       (unsigned char)(count - 5),
                                       1,
                                       0,
                                       (unsigned char)((count - 9) >> 8),
                                       (unsigned char)(count - 9)};
        memcpy(bytes, head, sizeof head);
    }
    return count;
}

#endif
