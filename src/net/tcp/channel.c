/* channel.c - the handshake, and what it leaves behind. */
#include "base/alloc.h"
#include "base/loop.h"
#include "base/status.h"
#include "net/tcp/channel_state.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <string.h>
#include <unistd.h>

enum {
    STRANGER = 16 << 10, /* bytes that a server's half may have */
    FINISHED = 512,      /* bytes that may follow a client's first record; ours sends 58 */
    SMALL = 512,         /* bytes of a record in the handshake, so that buffers are small */
    LARGE = SSL3_RT_MAX_PLAIN_LENGTH,
    RECORDS_OF_A_KEY = 1 << 23, /* AES-GCM is good for 2^24.5 of them (RFC 8446, 5.5) */
};

static psd_status begin_tls(struct psd_channel *channel)
{
    const struct psd_trust *trust = channel->claim.trust;

    PSD_TRY(psd_trust_begin(trust, channel->is_server, &channel->claim, &channel->ssl));
    BIO *bio = psd_socket_bio(trust->method, &channel->socket);
    if (!bio)
        return psd_fail(PSD_ENOMEM, "OpenSSL has no memory for a connection");
    SSL_set_bio(channel->ssl, bio, bio); /* which now owns it */
    SSL_set_max_send_fragment(channel->ssl, SMALL);
    return PSD_OK;
}

psd_status psd_channel_create(const struct psd_trust *trust, int fd, bool is_server,
                              struct psd_channel **out)
{
    struct psd_channel *channel = psd_alloc_zero(1, sizeof *channel);

    if (!channel) {
        close(fd);
        return PSD_ENOMEM;
    }
    channel->socket.fd = fd;
    channel->socket.left = STRANGER;
    channel->mark = 1;
    channel->claim.trust = trust;
    channel->is_server = is_server;
    channel->records_of_a_key = RECORDS_OF_A_KEY;
    psd_status status = is_server ? PSD_OK : begin_tls(channel);
    if (status == PSD_OK)
        *out = channel;
    else
        psd_channel_destroy(channel);
    return status;
}

void psd_channel_destroy(struct psd_channel *channel)
{
    if (!channel)
        return;
    SSL_free(channel->ssl);
    psd_channel_leave_kernel(channel);
    close(channel->socket.fd);
    psd_alloc_free(channel->socket.out);
    psd_alloc_free(channel->socket.in);
    OPENSSL_cleanse(channel->keys, sizeof channel->keys);
    OPENSSL_cleanse(channel->claim.secrets, sizeof channel->claim.secrets);
    psd_alloc_free(channel);
}

int psd_channel_fd(const struct psd_channel *channel)
{
    return channel->socket.fd;
}

bool psd_channel_is_clear(const struct psd_channel *channel)
{
    return channel->claim.trust->in_clear;
}

/* Takes a key for each direction from TLS, which is not needed any more. */
static psd_status leave_tls(struct psd_channel *channel)
{
    static const char label[] = "EXPORTER-poseidon-seal";

    if (SSL_export_keying_material(channel->ssl, channel->keys[0], sizeof channel->keys, label,
                                   sizeof label - 1, NULL, 0, 0) != 1)
        return psd_fail(PSD_ENOMEM, "OpenSSL has no memory for a connection's keys");
    SSL_free(channel->ssl);
    channel->ssl = NULL;
    return PSD_OK;
}

/* From now on OpenSSL's buffers stay, and records wait for each other in ours: a connection in use
 * allocates nothing. */
static psd_status stay_in_tls(struct psd_channel *channel)
{
    channel->socket.out = psd_alloc(PSD_SOCKET_OUT);
    channel->socket.in = psd_alloc(PSD_SOCKET_IN);
    if (!channel->socket.out || !channel->socket.in)
        return PSD_ENOMEM;
    SSL_clear_mode(channel->ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_set_max_send_fragment(channel->ssl, LARGE);
    SSL_set_split_send_fragment(channel->ssl, LARGE);
    return PSD_OK;
}

static psd_status begin_records(struct psd_channel *channel)
{
    if (channel->claim.trust->in_kernel)
        PSD_TRY(psd_channel_enter_kernel(channel));
    OPENSSL_cleanse(channel->claim.secrets, sizeof channel->claim.secrets);
    return channel->in_kernel ? PSD_OK : stay_in_tls(channel);
}

static psd_status finish(struct psd_channel *channel)
{
    PSD_TRY(psd_trust_end(channel->ssl));
    PSD_TRY(psd_channel_is_clear(channel) ? leave_tls(channel) : begin_records(channel));
    channel->socket.left = SIZE_MAX;
    channel->is_done = true;
    return PSD_OK;
}

/* A server's first step: TLS begins when the client's first record is there. */
static psd_status wait_for_hello(struct psd_channel *channel, unsigned *wants)
{
    struct psd_socket *socket = &channel->socket;
    size_t wanted = 0, count = 0;

    for (;;) {
        PSD_TRY(psd_hello_check(&socket->hello, &wanted));
        if (!wanted)
            break;
        count = psd_socket_receive(socket, socket->hello.bytes + socket->hello.count, wanted);
        if (!count && (socket->error || socket->is_ended))
            return psd_channel_why_broken(channel);
        if (!count) {
            *wants = PSD_LOOP_READ;
            return PSD_OK;
        }
        socket->hello.count += count;
    }
    socket->left = FINISHED;
    return begin_tls(channel);
}

/* Without an agreed PSK there is no second flight, so a stranger gets to send a second message only behind
 * a first one that he has recorded. */
static psd_status go_on(struct psd_channel *channel, int result, unsigned *wants)
{
    switch (SSL_get_error(channel->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *wants = PSD_LOOP_READ;
        return PSD_OK;
    case SSL_ERROR_WANT_WRITE:
        *wants = PSD_LOOP_WRITE;
        return PSD_OK;
    default:
        return psd_channel_why_strange(channel);
    }
}

psd_status psd_channel_shake(struct psd_channel *channel, unsigned *wants)
{
    *wants = 0;
    if (channel->is_done)
        return PSD_OK;
    if (!channel->ssl)
        PSD_TRY(wait_for_hello(channel, wants));
    if (*wants)
        return PSD_OK;
    ERR_clear_error();
    int result = SSL_do_handshake(channel->ssl);
    return result == 1 ? finish(channel) : go_on(channel, result, wants);
}

psd_status psd_channel_keys(struct psd_channel *channel, unsigned char sending[PSD_CHANNEL_KEY],
                            unsigned char receiving[PSD_CHANNEL_KEY])
{
    if (!channel->is_done || !psd_channel_is_clear(channel) || channel->has_given_keys)
        return psd_fail(PSD_EINVAL,
                        "only a connection in clear has keys, once after its handshake");
    memcpy(sending, channel->keys[channel->is_server], PSD_CHANNEL_KEY);
    memcpy(receiving, channel->keys[!channel->is_server], PSD_CHANNEL_KEY);
    OPENSSL_cleanse(channel->keys, sizeof channel->keys);
    channel->has_given_keys = true;
    return PSD_OK;
}

psd_status psd_channel_read(struct psd_channel *channel, const struct iovec *to, int spans,
                            size_t *count)
{
    if (channel->in_kernel)
        return psd_channel_read_kernel(channel, to, spans, count);
    return channel->ssl ? psd_channel_read_tls(channel, to, spans, count)
                        : psd_channel_read_clear(channel, to, spans, count);
}

psd_status psd_channel_write(struct psd_channel *channel, const struct iovec *from, int spans,
                             size_t *count)
{
    if (channel->in_kernel)
        return psd_channel_write_kernel(channel, from, spans, count);
    return channel->ssl ? psd_channel_write_tls(channel, from, spans, count)
                        : psd_channel_write_clear(channel, from, spans, count);
}

bool psd_channel_is_garbled(const struct psd_channel *channel)
{
    return channel->ending && !psd_channel_is_alert(channel->ending);
}

bool psd_channel_hides(const struct psd_channel *channel)
{
    return channel->in_kernel || psd_channel_is_garbled(channel);
}
