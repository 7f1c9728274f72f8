/* reason.h - why a connection is gone, as the sentence that its user hears. */
#ifndef PSD_NET_REASON_H
#define PSD_NET_REASON_H

#include <stddef.h>

enum psd_reason {
    PSD_REASON_CLOSED, /* the peer has closed it, or has refused what we sent */
    PSD_REASON_NOBODY, /* there is no peer at that address */
    PSD_REASON_CUT,    /* the way is broken */
    PSD_REASON_DEAD,   /* the peer has ended without a word */
    PSD_REASON_MEMORY, /* news of it could not be kept */
    PSD_REASON_KEY,    /* the peer has another key */
};

enum { PSD_REASON_SIZE = 256 }; /* bytes that are enough for a sentence about a usual address */

/* Writes the sentence about a connection with the peer at scheme://address, cut to `size`. */
void psd_reason_say(enum psd_reason reason, const char *scheme, const char *address, char *out,
                    size_t size);

#endif
