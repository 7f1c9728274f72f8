/* channel_state.h - the inside of a channel.
 *
 *     channel.c         the handshake, and which of the three it is afterwards
 *     channel_tls.c     records
 *     channel_kernel.c  records that the kernel makes
 *     channel_clear.c   plain system calls
 *     channel_expect.c  when the socket is ready
 *     channel_why.c     sentences */
#ifndef PSD_NET_TCP_CHANNEL_STATE_H
#define PSD_NET_TCP_CHANNEL_STATE_H

#include "net/tcp/channel.h"
#include "net/tcp/socket.h"
#include "net/tcp/trust_state.h"

struct psd_channel {
    struct psd_socket socket;
    struct psd_trust_claim claim;
    SSL *ssl; /* owned; NULL when the handshake is done, if it is in clear or in the kernel */
    bool is_server, is_done;
    bool in_kernel;                /* which encrypts */
    struct psd_secret *secrets[2]; /* that it has, by enum psd_kernel_tls_way; owned */
    unsigned long ending;          /* OpenSSL's error at what has ended reading; 0: nothing has */
    size_t mark;                   /* bytes that must have come before the socket is ready */
    size_t held;                   /* bytes that are encrypted, and not yet sent and counted */
    uint32_t records;              /* written with the present key */
    uint32_t records_of_a_key;     /* after which it is changed */
    unsigned char keys[2][PSD_CHANNEL_KEY]; /* in clear: the client's and the server's, until */
    bool has_given_keys;                    /* somebody has them */
};

psd_status psd_channel_read_tls(struct psd_channel *channel, const struct iovec *to, int spans,
                                size_t *count);
psd_status psd_channel_write_tls(struct psd_channel *channel, const struct iovec *from, int spans,
                                 size_t *count);
psd_status psd_channel_read_kernel(struct psd_channel *channel, const struct iovec *to, int spans,
                                   size_t *count);
psd_status psd_channel_write_kernel(struct psd_channel *channel, const struct iovec *from,
                                    int spans, size_t *count);
psd_status psd_channel_read_clear(struct psd_channel *channel, const struct iovec *to, int spans,
                                  size_t *count);
psd_status psd_channel_write_clear(struct psd_channel *channel, const struct iovec *from, int spans,
                                   size_t *count);

/* Leaves encryption to the kernel (in_kernel), if that will have it; and what is to be done before the socket is
 * closed, wherever it is. */
psd_status psd_channel_enter_kernel(struct psd_channel *channel);
void psd_channel_leave_kernel(struct psd_channel *channel);

/* After a call that moved nothing (errno): for now, or for good? */
psd_status psd_channel_stopped(struct psd_channel *channel);

/* Counts what a call has read; nothing is the end. */
psd_status psd_channel_was_read(struct psd_channel *channel, size_t bytes, size_t *count);

/* sendmsg, as for plain bytes. */
ssize_t psd_channel_send(const struct psd_channel *channel, const struct iovec *from, int spans);

/* Whether OpenSSL's error is that the peer has refused what we sent. */
bool psd_channel_is_alert(unsigned long error);

/* Why the handshake has failed, from OpenSSL's queue of errors; why it broke later. */
psd_status psd_channel_why_strange(const struct psd_channel *channel);
psd_status psd_channel_why_broken(const struct psd_channel *channel);

#endif
