/* traffic.h - the secret of one direction of a TLS 1.3 connection, and what follows from it (RFC 8446, 7).
 *
 *     secret 0 --> secret 1 --> ...       a step at every change of keys
 *         |            |
 *      key, IV      key, IV               of AES-128-GCM
 *
 * OpenSSL uses it and tells nobody; but it writes it for key logs, and so for us. */
#ifndef PSD_NET_TCP_TRAFFIC_H
#define PSD_NET_TCP_TRAFFIC_H

#include <stdbool.h>

enum { PSD_TRAFFIC_SECRET = 32, PSD_TRAFFIC_KEY = 16, PSD_TRAFFIC_IV = 12 }; /* bytes */

/* Takes the secret from a line "label client-random secret", both in hexadecimal digits; false: it is
 * another label's. */
bool psd_traffic_read(const char *line, const char *label, unsigned char out[PSD_TRAFFIC_SECRET]);

/* What encrypts under the secret. false: OpenSSL has no memory, as for the next. */
bool psd_traffic_keys(const unsigned char secret[PSD_TRAFFIC_SECRET],
                      unsigned char key[PSD_TRAFFIC_KEY], unsigned char iv[PSD_TRAFFIC_IV]);

/* The next secret, from which there is no way back. */
bool psd_traffic_next(const unsigned char secret[PSD_TRAFFIC_SECRET],
                      unsigned char next[PSD_TRAFFIC_SECRET]);

#endif
