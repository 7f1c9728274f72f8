/* landing.h - an arriving payload on its way into its place: stored straight there, or added.
 *
 *     stored    socket ====================================> [ span 0 ][ span 1 ]
 *     added     socket ====> [ scratch, in the cache ] --+--> [ span 0 ][ span 1 ]
 *     nowhere   socket ====> [ scratch ]                       spans without data
 *
 * It comes in parts small enough to stay in the cache, over which the CRC is calculated at once. A part
 * is added before the CRC of the whole payload is known: where that turns out wrong, the connection
 * closes, and what was added to ends with the job. Whoever reads owns it. */
#ifndef PSD_NET_TCP_LANDING_H
#define PSD_NET_TCP_LANDING_H

#include "net/transport.h"

#include <sys/uio.h>

enum {
    PSD_LANDING_STORED = 256 << 10, /* bytes of a part that is stored, */
    PSD_LANDING_ADDED = 256 << 10   /* and of one that is added */
};

struct psd_landing {
    bool has_crc;           /* whether anybody wants to know */
    uint32_t crc;           /* of what has landed */
    struct psd_place place; /* borrowed */
    bool is_nowhere;        /* it has no memory, and nobody wants the payload */
    size_t bytes;           /* of the payload, */
    size_t at;              /* of which so many have landed */
    size_t odd;     /* the last ones of a float that is not yet whole; in front of the scratch */
    float *scratch; /* owned; PSD_LANDING_ADDED bytes */
};

psd_status psd_landing_init(struct psd_landing *landing, bool has_crc);
void psd_landing_fini(struct psd_landing *landing);

/* PSD_EINVAL: the place is not as long as the payload, has memory for half of it, or cuts a float that is to be
 * added. */
psd_status psd_landing_check(const struct psd_place *place, size_t bytes);

/* A payload comes, if the place is one for it. */
psd_status psd_landing_start(struct psd_landing *landing, const struct psd_place *place,
                             size_t bytes);

/* Where the next bytes go, in one or two pieces of memory; returns how many pieces, 0: all are there. */
int psd_landing_room(const struct psd_landing *landing, struct iovec to[2]);

/* So many bytes have been read into that room. */
void psd_landing_take(struct psd_landing *landing, size_t count);

/* Takes from bytes that have been read elsewhere as many as still belong to the payload; says how many. */
size_t psd_landing_copy(struct psd_landing *landing, const unsigned char *bytes, size_t count);

#endif
