/* bytes.h - bytes read front to back, from memory or from a file.
 *
 *     file    [ ...... | window | ............ ]     small things pass through the window,
 *                                                    large ones go straight to their place
 *
 * So a model of half a gigabyte is read into its arrays without being held twice, and a file that
 * shrinks while it is read is a sentence and not a signal. */
#ifndef PSD_PROTO_BYTES_H
#define PSD_PROTO_BYTES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct psd_bytes {
    const char *path;     /* borrowed; for sentences */
    uint64_t at, size;    /* of the whole */
    const uint8_t *next;  /* what follows in the window */
    const uint8_t *limit; /* its end */
    int fd;               /* borrowed; -1: all of it is in memory */
    uint8_t *window;      /* owned; NULL in memory */
};

void psd_bytes_init_memory(struct psd_bytes *bytes, const char *path, const void *data,
                           size_t size);
psd_status psd_bytes_init_file(struct psd_bytes *bytes, const char *path, int fd, uint64_t size);
void psd_bytes_fini(struct psd_bytes *bytes);

/* The next `count` bytes, which must not be more than are left. */
psd_status psd_bytes_copy(struct psd_bytes *bytes, void *to, size_t count);

/* The next byte, of which there must be one. */
psd_status psd_bytes_one(struct psd_bytes *bytes, uint8_t *out);

#endif
