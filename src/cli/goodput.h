/* goodput.h - what one plain TCP stream gets through a link, and how long the way is.
 *
 *     member 0                        member 1
 *     a byte ------------------------> a byte back, a few times: latency is half of the median
 *     as much as goes ---------------> counted for a while, after a beginning that is not
 *
 * This is what synchronization is measured against: nothing of ours is in the way. */
#ifndef PSD_CLI_GOODPUT_H
#define PSD_CLI_GOODPUT_H

#include "base/status.h"

#include <stdint.h>

struct psd_goodput {
    double bytes_per_s;
    double latency; /* seconds, one way */
};

struct psd_goodput_options {
    /* Puts a process into the place of member 0 or 1; NULL: where we are. */
    psd_status (*enter)(const void *place, unsigned member);
    const void *place;
    const char *address; /* of member 1: an IPv4 address, as text */
    uint64_t time_ns;    /* that is measured; 0: a second */
};

/* Measures from member 0 to member 1, with two processes (members.h). */
psd_status psd_goodput_measure(const struct psd_goodput_options *options, struct psd_goodput *out);

#endif
