/* reason.h - why a connection is gone, as the sentence that its user hears. */
#ifndef PSD_NET_REASON_H
#define PSD_NET_REASON_H

#include <stddef.h>
#include <stdint.h>

enum psd_reason {
    PSD_REASON_CLOSED, /* the peer has closed it, or has refused what we sent */
    PSD_REASON_NOBODY, /* there is no peer at that address */
    PSD_REASON_CUT,    /* the way is broken */
    PSD_REASON_DEAD,   /* the peer has ended without a word */
    PSD_REASON_MEMORY, /* news of it could not be kept */
    PSD_REASON_KEY,    /* the peer has another key */

    PSD_REASON_UNREACHABLE, /* there is no way to that address */

    PSD_REASON_LATE,   /* the peer did not answer for a time */
    PSD_REASON_SILENT, /* nothing has come from it for that time */
    PSD_REASON_STUCK,  /* its machine has acknowledged nothing for that time */
};

enum { PSD_REASON_SIZE = 256 }; /* bytes that are enough for a sentence about a usual address */

/* Writes the sentence about a connection with the peer at scheme://address, cut to `size`. */
void psd_reason_say(enum psd_reason reason, const char *scheme, const char *address, char *out,
                    size_t size);

/* The same for the reasons that speak of a time. */
void psd_reason_say_time(enum psd_reason reason, const char *scheme, const char *address,
                         uint64_t time_ns, char *out, size_t size);

#endif
