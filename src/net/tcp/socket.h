/* socket.h - a socket as OpenSSL sees it.
 *
 *     SSL_write --> [ record | record | record ] --> send        several records a call
 *     SSL_read  <-- [ record | record | rec... ] <-- recv
 *
 * OpenSSL's own BIO would raise SIGPIPE when the peer has gone, make three system calls for every record,
 * and read whatever a stranger sends. During the handshake nothing waits: what is written is sent, and no
 * byte is read that OpenSSL has not asked for, so that TLS can be left behind it. */
#ifndef PSD_NET_TCP_SOCKET_H
#define PSD_NET_TCP_SOCKET_H

#include "net/tcp/hello.h"

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    PSD_SOCKET_OUT = 64 << 10,   /* bytes that wait at most to be sent */
    PSD_SOCKET_IN = 64 << 10,    /* and to be decrypted */
    PSD_SOCKET_RECORD = 17 << 10 /* the longest record, and a change of keys before it */
};

struct psd_socket {
    int fd;                 /* owned by the channel */
    int error;              /* errno of what broke it; 0: nothing, or the peer has closed it */
    bool is_ended;          /* the peer has closed it */
    size_t left;            /* bytes that may still come; SIZE_MAX: any number */
    struct psd_hello hello; /* what has come already, before there was a BIO */

    /* What waits to be sent and to be decrypted, from `at` to `end`; NULL: nothing may wait. */
    unsigned char *out, *in; /* owned by the channel */
    size_t out_at, out_end, in_at, in_end;
};

/* The caller frees it with BIO_meth_free after the last BIO; NULL: no memory. */
BIO_METHOD *psd_socket_method(void);

/* A BIO over the socket, which is borrowed; NULL: no memory. */
BIO *psd_socket_bio(const BIO_METHOD *method, struct psd_socket *socket);

/* Reads as much as may come; 0: see is_ended, error, or wait. */
size_t psd_socket_receive(struct psd_socket *socket, void *to, size_t most);

/* Whether another record may wait. */
bool psd_socket_has_room(const struct psd_socket *socket);

/* Sends what waits; false: not all of it is sent, as the kernel takes no more or the socket broke. */
bool psd_socket_flush(struct psd_socket *socket);

#endif
