/* identity.h - how a client names the key it is about to prove: what travels in clear before trust.
 *
 *     offset  bytes
 *          0      8   "poseidon"
 *          8      1   version of the wire (wire.h)
 *          9      1   1: payloads will be encrypted; 0: in clear
 *         10      8   job, little-endian
 *         18     16   random: every connection has a key of its own, derived from the job's
 *
 * Anybody may claim anything here; the handshake's binder proves it, all 34 bytes of it. */
#ifndef PSD_NET_TCP_IDENTITY_H
#define PSD_NET_TCP_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSD_IDENTITY = 34, PSD_IDENTITY_RANDOM = 16 }; /* bytes; of which the last are random */

/* What an identity says that is not as ours. */
enum psd_identity_doubt {
    PSD_IDENTITY_SAME,
    PSD_IDENTITY_STRANGE, /* it is no identity of a Poseidon */
    PSD_IDENTITY_VERSION, /* it speaks another version of the wire */
    PSD_IDENTITY_JOB,     /* it belongs to another job */
    PSD_IDENTITY_CLEAR,   /* it speaks in clear, and we encrypt */
    PSD_IDENTITY_SECRET   /* it encrypts, and we speak in clear */
};

/* Writes ours, up to the random bytes. */
void psd_identity_write(uint64_t job, bool in_clear, unsigned char out[PSD_IDENTITY]);

/* Compares one that has come with ours, the random bytes aside. */
enum psd_identity_doubt psd_identity_compare(const unsigned char ours[PSD_IDENTITY],
                                             const unsigned char *theirs, size_t size);

#endif
