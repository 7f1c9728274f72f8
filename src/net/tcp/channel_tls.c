/* channel_tls.c - bytes as records of TLS.
 *
 *     the user's vector    [ counted | held | ................ ]
 *                                    |      |
 *     what waits (socket.h)          [ rec | rec | rec ]
 *
 * Bytes are counted as written when their records have been sent, not when they are encrypted. Those in
 * between are held: the caller gives them again, and they are passed over. */
#include "base/status.h"
#include "net/tcp/channel_state.h"

#include <openssl/err.h>

/* Whether a read that failed is only one to be tried again later. */
static bool is_for_later(const struct psd_channel *channel)
{
    return SSL_get_error(channel->ssl, 0) == SSL_ERROR_WANT_READ;
}

/* OpenSSL does not say it again when what came before has been taken. */
static void note_ending(struct psd_channel *channel)
{
    const struct psd_socket *socket = &channel->socket;

    if (!socket->error && !socket->is_ended && !is_for_later(channel))
        channel->ending = ERR_peek_error();
}

psd_status psd_channel_read_tls(struct psd_channel *channel, const struct iovec *to, int spans,
                                size_t *count)
{
    *count = 0;
    if (channel->ending)
        return psd_channel_why_broken(channel);
    for (int i = 0; i < spans; i++) {
        size_t at = 0, got = 0;
        for (; at < to[i].iov_len; at += got, *count += got) {
            char *into = (char *)to[i].iov_base + at;
            ERR_clear_error();
            if (SSL_read_ex(channel->ssl, into, to[i].iov_len - at, &got) == 1)
                continue;
            note_ending(channel);
            return *count || is_for_later(channel) ? PSD_OK : psd_channel_why_broken(channel);
        }
    }
    return PSD_OK;
}

/* Counts a record, and asks for a new key in time; it is sent with the next one. */
static psd_status wrote(struct psd_channel *channel)
{
    if (++channel->records < channel->records_of_a_key)
        return PSD_OK;
    channel->records = 0;
    if (SSL_key_update(channel->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1)
        return psd_channel_why_broken(channel);
    return PSD_OK;
}

/* Encrypts the bytes of a span from `at` on as long as their records may wait; *at: how far. */
static psd_status encrypt_span(struct psd_channel *channel, const struct iovec *span, size_t *at)
{
    while (*at < span->iov_len && psd_socket_has_room(&channel->socket)) {
        size_t put = 0;
        ERR_clear_error();
        if (SSL_write_ex(channel->ssl, (const char *)span->iov_base + *at, span->iov_len - *at,
                         &put) != 1)
            return psd_channel_why_broken(channel);
        *at += put;
        PSD_TRY(wrote(channel));
    }
    return PSD_OK;
}

/* Holds as many bytes as may wait, after the first `skip` of the vector. */
static psd_status hold(struct psd_channel *channel, const struct iovec *from, int spans,
                       size_t skip)
{
    channel->held = 0;
    for (int i = 0; i < spans; i++) {
        size_t begin = skip < from[i].iov_len ? skip : from[i].iov_len, end = begin;
        skip -= begin;
        PSD_TRY(encrypt_span(channel, &from[i], &end));
        channel->held += end - begin;
        if (end < from[i].iov_len)
            break;
    }
    return PSD_OK;
}

psd_status psd_channel_write_tls(struct psd_channel *channel, const struct iovec *from, int spans,
                                 size_t *count)
{
    *count = 0;
    do {
        if (!psd_socket_flush(&channel->socket))
            return channel->socket.error ? psd_channel_why_broken(channel) : PSD_OK;
        *count += channel->held;
        PSD_TRY(hold(channel, from, spans, *count));
    } while (channel->held);
    return PSD_OK;
}
