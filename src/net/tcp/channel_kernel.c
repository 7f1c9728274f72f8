/* channel_kernel.c - the kernel makes records of bytes (kernel_tls.h).
 *
 *     OpenSSL shakes hands --> a secret for each direction --> the kernel
 *
 * What is left to do here is to change keys before they are worn and when the peer does so, and to refuse
 * what the kernel cannot decrypt as OpenSSL would. The peer cannot tell who makes the records. */
#include "base/status.h"
#include "net/tcp/channel_state.h"
#include "net/tcp/kernel_tls.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>

enum { RECORD = SSL3_RT_MAX_PLAIN_LENGTH, ASKS_FOR_ONE = 4 };

/* An update of the sender's key, of one byte: whether it asks the receiver for one. */
static const unsigned char key_update[] = {SSL3_MT_KEY_UPDATE, 0, 0, 1, 0};

static bool use_secret(const struct psd_channel *channel, enum psd_kernel_tls_way way)
{
    return psd_kernel_tls_use(channel->socket.fd, way, psd_secret_data(channel->secrets[way]));
}

static psd_status keep_secrets(struct psd_channel *channel)
{
    for (int way = 0; way < 2; way++) {
        bool is_servers = channel->is_server == (way == PSD_KERNEL_TLS_SENDS);
        PSD_TRY(psd_secret_create(channel->claim.secrets[is_servers], PSD_TRAFFIC_SECRET,
                                  &channel->secrets[way]));
    }
    return PSD_OK;
}

static void forget_secrets(struct psd_channel *channel)
{
    for (int way = 0; way < 2; way++) {
        psd_secret_destroy(channel->secrets[way]);
        channel->secrets[way] = NULL;
    }
}

psd_status psd_channel_enter_kernel(struct psd_channel *channel)
{
    const bool *has_secret = channel->claim.has_secret;

    if (!has_secret[0] || !has_secret[1] || !psd_kernel_tls_prepare(channel->socket.fd))
        return PSD_OK;
    PSD_TRY(keep_secrets(channel));
    if (!use_secret(channel, PSD_KERNEL_TLS_SENDS)) {
        forget_secrets(channel);
        return PSD_OK;
    }
    if (!use_secret(channel, PSD_KERNEL_TLS_RECEIVES)) /* there is no way back */
        return psd_fail(PSD_ENOMEM, "the kernel has no memory to decrypt a connection");
    SSL_free(channel->ssl);
    channel->ssl = NULL;
    channel->in_kernel = true;
    return PSD_OK;
}

void psd_channel_leave_kernel(struct psd_channel *channel)
{
    if (channel->in_kernel)
        psd_kernel_tls_leave(channel->socket.fd);
    forget_secrets(channel);
}

static psd_status next_secret(const struct psd_channel *channel, enum psd_kernel_tls_way way,
                              struct psd_secret **out)
{
    unsigned char next[PSD_TRAFFIC_SECRET];

    if (!psd_traffic_next(psd_secret_data(channel->secrets[way]), next))
        return psd_fail(PSD_ENOMEM, "OpenSSL has no memory for a connection's next key");
    psd_status status = psd_secret_create(next, sizeof next, out);
    OPENSSL_cleanse(next, sizeof next);
    return status;
}

/* Gives the kernel the next secret, which is the channel's now. */
static psd_status change_secret(struct psd_channel *channel, enum psd_kernel_tls_way way,
                                struct psd_secret *next)
{
    psd_secret_destroy(channel->secrets[way]);
    channel->secrets[way] = next;
    if (use_secret(channel, way))
        return PSD_OK;
    channel->socket.error = errno;
    return psd_channel_why_broken(channel);
}

/* --- refusing ----------------------------------------------------------------------------------- */

/* Ends reading for an error of OpenSSL's, of which it would have told the peer with this alert. */
static psd_status refuse(struct psd_channel *channel, int reason, unsigned char alert)
{
    unsigned char words[] = {SSL3_AL_FATAL, alert};
    int error;
    socklen_t size = sizeof error;

    channel->ending = ERR_PACK(ERR_LIB_SSL, 0, reason);
    channel->socket.error = 0;
    /* The kernel has broken the socket; who asks for its error mends it. */
    (void)getsockopt(channel->socket.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    (void)psd_kernel_tls_send(channel->socket.fd, SSL3_RT_ALERT, words, sizeof words);
    return psd_channel_why_broken(channel);
}

/* After a call that moved nothing (errno). That something cannot be decrypted is told to the first who calls,
 * be it to write. */
static psd_status stopped(struct psd_channel *channel)
{
    if (errno == EBADMSG || errno == EMSGSIZE || errno == EINVAL)
        return refuse(channel, SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SSL_AD_BAD_RECORD_MAC);
    return psd_channel_stopped(channel);
}

/* --- sending ------------------------------------------------------------------------------------ */

static psd_status change_key(struct psd_channel *channel, bool *done)
{
    struct psd_secret *next = NULL;

    PSD_TRY(next_secret(channel, PSD_KERNEL_TLS_SENDS, &next));
    *done = psd_kernel_tls_send(channel->socket.fd, SSL3_RT_HANDSHAKE, key_update,
                                sizeof key_update) == sizeof key_update;
    if (!*done) {
        int error = errno;
        psd_secret_destroy(next);
        errno = error;
        return stopped(channel);
    }
    channel->records = 0;
    return change_secret(channel, PSD_KERNEL_TLS_SENDS, next);
}

/* A record ends with the call, and may end early where many spans meet in it. */
psd_status psd_channel_write_kernel(struct psd_channel *channel, const struct iovec *from,
                                    int spans, size_t *count)
{
    bool is_fresh = true;

    *count = 0;
    if (channel->records >= channel->records_of_a_key)
        PSD_TRY(change_key(channel, &is_fresh));
    if (!is_fresh)
        return PSD_OK;
    ssize_t moved = psd_channel_send(channel, from, spans);
    if (moved < 0)
        return stopped(channel);
    *count = (size_t)moved;
    channel->records += (uint32_t)(*count / RECORD) + (uint32_t)spans;
    return PSD_OK;
}

/* --- receiving ---------------------------------------------------------------------------------- */

/* The peer's key has changed, and it may want us to do the same. */
static psd_status follow(struct psd_channel *channel, bool asks_for_one)
{
    struct psd_secret *next = NULL;

    PSD_TRY(next_secret(channel, PSD_KERNEL_TLS_RECEIVES, &next));
    if (asks_for_one)
        channel->records = channel->records_of_a_key;
    return change_secret(channel, PSD_KERNEL_TLS_RECEIVES, next);
}

static bool is_key_update(const unsigned char *bytes, ssize_t count)
{
    return count == sizeof key_update && memcmp(bytes, key_update, ASKS_FOR_ONE) == 0 &&
           bytes[ASKS_FOR_ONE] <= 1;
}

static psd_status hear_alert(struct psd_channel *channel, unsigned char alert)
{
    if (alert == SSL_AD_CLOSE_NOTIFY)
        channel->socket.is_ended = true;
    else
        channel->ending = ERR_PACK(ERR_LIB_SSL, 0, SSL_AD_REASON_OFFSET + alert);
    return psd_channel_why_broken(channel);
}

/* Takes the record that is no data. */
static psd_status take_other(struct psd_channel *channel)
{
    unsigned char bytes[sizeof key_update + 1], type;
    ssize_t count = psd_kernel_tls_receive(channel->socket.fd, &type, bytes, sizeof bytes);

    if (count < 0)
        return stopped(channel);
    if (type == SSL3_RT_HANDSHAKE && is_key_update(bytes, count))
        return follow(channel, bytes[ASKS_FOR_ONE]);
    if (type == SSL3_RT_ALERT && count == 2)
        return hear_alert(channel, bytes[1]);
    return refuse(channel, SSL_R_UNEXPECTED_MESSAGE, SSL_AD_UNEXPECTED_MESSAGE);
}

psd_status psd_channel_read_kernel(struct psd_channel *channel, const struct iovec *to, int spans,
                                   size_t *count)
{
    ssize_t moved;

    *count = 0;
    if (channel->ending)
        return psd_channel_why_broken(channel);
    while ((moved = readv(channel->socket.fd, to, spans)) < 0 && errno == EIO)
        PSD_TRY(take_other(channel));
    return moved < 0 ? stopped(channel) : psd_channel_was_read(channel, (size_t)moved, count);
}
