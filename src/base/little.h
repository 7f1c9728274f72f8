/* little.h - whole numbers as bytes, the lowest first: so they stand in all that leaves the process.
 *
 *     psd_little_put(out, 0x0102, 4)      02 01 00 00
 *     psd_little_get(out, 4)              0x0102
 *
 * Any thread. */
#ifndef PSD_BASE_LITTLE_H
#define PSD_BASE_LITTLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where memory has that order already, a number is one move; messages have nine. */
#define PSD_LITTLE_IS_NATIVE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Writes the lowest `bytes` bytes of the number, at most 8. */
static inline void psd_little_put(unsigned char *out, uint64_t number, size_t bytes)
{
    if (PSD_LITTLE_IS_NATIVE)
        memcpy(out, &number, bytes);
    for (size_t i = 0; !PSD_LITTLE_IS_NATIVE && i < bytes; i++)
        out[i] = (unsigned char)(number >> 8 * i);
}

static inline uint64_t psd_little_get(const unsigned char *from, size_t bytes)
{
    uint64_t number = 0;

    if (PSD_LITTLE_IS_NATIVE)
        memcpy(&number, from, bytes);
    for (size_t i = 0; !PSD_LITTLE_IS_NATIVE && i < bytes; i++)
        number |= (uint64_t)from[i] << 8 * i;
    return number;
}

#endif
