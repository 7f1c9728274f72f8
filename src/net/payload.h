/* payload.h - from the sender's memory to the receiver's, for transports that reach both.
 *
 *     frame   [ span 0        ][ span 1 ]
 *                |        |         |            stored or added, in as many parts as there are
 *     place   [ span 0 ][ span 1        ]        borders
 *
 * Any thread that may touch both. */
#ifndef PSD_NET_PAYLOAD_H
#define PSD_NET_PAYLOAD_H

#include "net/transport.h"

/* The bytes of a frame's payload. */
size_t psd_payload_bytes(const struct psd_frame *frame);

/* Puts the payload where it is wanted; a span without data, on either side, counts as moved.
 * PSD_EINVAL: the place is not as long as the payload, or a border cuts a float that is to be
 * added. */
psd_status psd_payload_move(const struct psd_frame *frame, const struct psd_place *place);

#endif
