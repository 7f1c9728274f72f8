/* trust_state.h - the inside of a trust, and what one connection makes of it.
 *
 *     job's key --.
 *                 HKDF-SHA256 --> the PSK of one connection --> TLS 1.3
 *     identity --'
 *
 * So neither the job's key nor anything that would open another connection gets into OpenSSL's own
 * memory for longer than the derivation takes. */
#ifndef PSD_NET_TCP_TRUST_STATE_H
#define PSD_NET_TCP_TRUST_STATE_H

#include "base/secret.h"
#include "net/tcp/identity.h"
#include "net/tcp/traffic.h"
#include "net/tcp/trust.h"

#include <openssl/ssl.h>

struct psd_trust {
    SSL_CTX *context;                     /* owned */
    BIO_METHOD *method;                   /* owned; of BIOs over a psd_socket */
    struct psd_secret *key;               /* owned; the job's */
    unsigned char identity[PSD_IDENTITY]; /* ours, without its random bytes */
    bool in_clear;
    bool in_kernel; /* the kernel encrypts, where a socket lets it */
};

/* What one side of a handshake says it is, and what it thinks of the other. */
struct psd_trust_claim {
    const struct psd_trust *trust;        /* borrowed */
    unsigned char identity[PSD_IDENTITY]; /* a client's; a server's once it has come */
    enum psd_identity_doubt doubt;        /* a server's, of the client */

    /* The client's and the server's, for the kernel, and whether OpenSSL has told them. */
    unsigned char secrets[2][PSD_TRAFFIC_SECRET];
    bool has_secret[2];
};

/* A TLS object that is about to shake hands, without a BIO. `claim` is filled, and borrowed until the
 * handshake has ended. */
psd_status psd_trust_begin(const struct psd_trust *trust, bool is_server,
                           struct psd_trust_claim *claim, SSL **out);

/* Forgets what the handshake needed and has no use for any more. PSD_EPEER: the peer has proven
 * nothing. */
psd_status psd_trust_end(SSL *ssl);

#endif
