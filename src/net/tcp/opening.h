/* opening.h - the 40 bytes of an open: which connection a stream belongs to.
 *
 *     offset  bytes
 *          0     16   id of the connection, drawn by who connects
 *         16      2   number of this stream, from 0
 *         18      2   streams of the connection
 *         20      2   port where the sender listens, so that it can be named
 *         22     18   zero
 *
 * All numbers are little-endian. Who is called answers with the same id, number and count. */
#ifndef PSD_NET_TCP_OPENING_H
#define PSD_NET_TCP_OPENING_H

#include "net/transport.h"

enum { PSD_OPENING_ID = 16, PSD_OPENING_STREAMS = 64 }; /* bytes; at most */

struct psd_opening {
    unsigned char id[PSD_OPENING_ID];
    uint16_t number, count;
    uint16_t port;
};

void psd_opening_encode(const struct psd_opening *opening, unsigned char out[PSD_FRAME_HEADER]);

/* PSD_EPEER: no stream of any connection is like that; the sentence lacks its subject, as those of
 * channel.h. */
psd_status psd_opening_decode(const unsigned char header[PSD_FRAME_HEADER],
                              struct psd_opening *out);

#endif
