/* wire.h - the bytes of a frame between two machines. docs/wire.md has them all, with the handshake.
 *
 *     offset  bytes
 *          0      1   version of the wire, 1
 *          1      1   kind: data, beat, open or bye
 *          2      2   stream: the number of this one in its connection
 *          4      4   epoch of the membership
 *          8      8   job
 *         16      8   sequence: frames of this stream and direction before this one
 *         24      8   length of the payload in bytes
 *         32     40   the user's header (transport.h); of an open: see there
 *         72     16   seal: a keyed MAC over all before it; zero where the channel is encrypted
 *         88      n   payload
 *      88 + n      4   CRC32C of the payload; only in clear, and only if n > 0
 *
 * All numbers are little-endian. A head is checked whole before anything in it is used. */
#ifndef PSD_NET_TCP_WIRE_H
#define PSD_NET_TCP_WIRE_H

#include "net/transport.h"

enum {
    PSD_WIRE_VERSION = 1,
    PSD_WIRE_SEALED = 72, /* bytes of a head that its seal covers */
    PSD_WIRE_SEAL = 16,
    PSD_WIRE_HEAD = PSD_WIRE_SEALED + PSD_WIRE_SEAL,
    PSD_WIRE_CRC = 4,
    PSD_WIRE_ANY = 0xffff /* instead of a stream's number: as the peer's open has it */
};

enum psd_wire_kind {
    PSD_WIRE_DATA = 1, /* a frame of the user's */
    PSD_WIRE_BEAT,     /* we live; no payload, the user's header is zero */
    PSD_WIRE_OPEN,     /* the first on a stream: which connection it belongs to; no payload */
    PSD_WIRE_BYE       /* the last: the sender has closed the connection on purpose; no payload */
};

struct psd_wire_head {
    enum psd_wire_kind kind;
    uint16_t stream;
    uint32_t epoch;
    uint64_t job, sequence, length;
    unsigned char header[PSD_FRAME_HEADER];
};

/* What all frames of a stream have in common; both sides agree on it. */
struct psd_wire_terms {
    uint64_t job;
    uint32_t epoch;
    uint16_t number; /* of the stream, or PSD_WIRE_ANY */
};

/* The first 72 bytes. */
void psd_wire_encode(const struct psd_wire_head *head, unsigned char out[PSD_WIRE_SEALED]);

/* PSD_EPEER: not a head of ours, with a sentence that lacks its subject, as those of channel.h; job,
 * epoch, stream and sequence are compared by the reader. */
psd_status psd_wire_decode(const unsigned char bytes[PSD_WIRE_SEALED], struct psd_wire_head *head);

#endif
