/* crc32c.h - the checksum of RFC 3720: it finds accidents, not people.
 *
 *     uint32_t crc = psd_crc32c(0, head, head_bytes);
 *     crc = psd_crc32c(crc, rest, rest_bytes);            the same as of both in one piece
 *
 * The polynomial is 0x1edc6f41, bits reflected, inverted at both ends. Any thread. */
#ifndef PSD_BASE_CRC32C_H
#define PSD_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from the checksum of what came before; 0: nothing did. */
uint32_t psd_crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
