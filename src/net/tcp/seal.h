/* seal.h - heads that only a member of the job can have written: HMAC-SHA-256, cut to 16 bytes.
 *
 * The sequence number is among what is sealed, so a head that is repeated, left out or moved is told. A
 * seal belongs to one stream and direction; one thread at a time. */
#ifndef PSD_NET_TCP_SEAL_H
#define PSD_NET_TCP_SEAL_H

#include "net/tcp/channel.h"
#include "net/tcp/wire.h"

struct psd_seal;

psd_status psd_seal_create(const unsigned char key[PSD_CHANNEL_KEY], struct psd_seal **out);
void psd_seal_destroy(struct psd_seal *seal); /* NULL is fine */

/* Puts the seal behind the first 72 bytes of a head. Allocates nothing. */
void psd_seal_put(struct psd_seal *seal, unsigned char head[PSD_WIRE_HEAD]);

/* Whether the head has the right one; takes the same time whatever is wrong. */
bool psd_seal_is_right(struct psd_seal *seal, const unsigned char head[PSD_WIRE_HEAD]);

#endif
