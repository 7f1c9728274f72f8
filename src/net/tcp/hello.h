/* hello.h - a stranger's first record, read before OpenSSL hears of the stranger.
 *
 *     offset  bytes
 *          0      1   22: a handshake
 *          1      2   version of TLS, which nobody looks at any more
 *          3      2   length of what follows, big-endian
 *          5      1   1: a ClientHello
 *          6      3   length of what follows: the rest of the record
 *
 * OpenSSL takes some 40 KB for a connection, and as much as a stranger says the first message has. So a
 * server waits here until the record is there, whole and no longer than ours can be: whoever says
 * nothing, or something else, costs one KB. */
#ifndef PSD_NET_TCP_HELLO_H
#define PSD_NET_TCP_HELLO_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { PSD_HELLO = 1024 }; /* bytes of the longest; ours has about 250 */

struct psd_hello {
    unsigned char bytes[PSD_HELLO];
    size_t count; /* that have come */
    size_t taken; /* that have been given to OpenSSL */
};

/* How many bytes are still wanted; 0: it is there. PSD_EPEER: it is none. */
psd_status psd_hello_check(const struct psd_hello *hello, size_t *wanted);

#endif
