/* crc32c_way.h - the ways in which the checksum is computed, of which a processor runs the best it can.
 *
 *     crc32c_avx2.c       the instruction below, and products without carries beside it
 *     crc32c_sse42.c      the processor's own instruction, in three streams
 *     crc32c_plain.c      tables; runs anywhere
 *     crc32c.c            the list
 *
 * All give the same; crc32c_test.c compares those that this processor can run. */
#ifndef PSD_BASE_CRC32C_WAY_H
#define PSD_BASE_CRC32C_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd_crc32c_way {
    const char *name;
    bool (*usable)(void); /* whether this processor can run it */

    /* Takes `state`, the remainder so far without the inversions, through the bytes. */
    uint32_t (*update)(uint32_t state, const unsigned char *data, size_t bytes);
};

/* All that are built, best first; ends with NULL. */
extern const struct psd_crc32c_way *const psd_crc32c_ways[];

extern const struct psd_crc32c_way psd_crc32c_avx2, psd_crc32c_sse42, psd_crc32c_plain;

#endif
