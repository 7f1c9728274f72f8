/* channel_why.c - what OpenSSL and the kernel say, as what a user can do something about. */
#include "base/status.h"
#include "net/tcp/channel_state.h"

#include <openssl/err.h>
#include <string.h>

enum { ALERT = SSL_AD_REASON_OFFSET }; /* the reason of an error by an alert that has come */

static const char *say_error(unsigned long error)
{
    const char *text = error ? ERR_reason_error_string(error) : NULL;

    return text ? text : "for no reason that OpenSSL knows";
}

bool psd_channel_is_alert(unsigned long error)
{
    int reason = ERR_GET_REASON(error);

    return ERR_GET_LIB(error) == ERR_LIB_SSL && reason >= ALERT && reason <= ALERT + UINT8_MAX;
}

psd_status psd_channel_why_broken(const struct psd_channel *channel)
{
    char text[128];
    unsigned long error = channel->ending ? channel->ending : ERR_peek_error();

    if (channel->socket.error)
        return psd_fail(PSD_EPEER, "is gone: %s",
                        strerror_r(channel->socket.error, text, sizeof text));
    if (channel->socket.is_ended || !error) /* who closes on purpose has said bye before */
        return psd_fail(PSD_EPEER, channel->is_done ? "is gone" : "has closed the connection");
    if (psd_channel_is_alert(error))
        return psd_fail(PSD_EPEER, "has refused what we sent: it was altered on its way (%s)",
                        say_error(error));
    return psd_fail(PSD_EPEER, "sends what cannot be decrypted (%s)", say_error(error));
}

/* What the client said about itself, and who listens here. */
static psd_status why_doubtful(enum psd_identity_doubt doubt)
{
    switch (doubt) {
    case PSD_IDENTITY_VERSION:
        return psd_fail(PSD_EPEER, "speaks another version of the wire: let all processes run the "
                                   "same version of Poseidon");
    case PSD_IDENTITY_JOB:
        return psd_fail(PSD_EPEER, "belongs to another job");
    case PSD_IDENTITY_CLEAR:
        return psd_fail(PSD_EPEER, "speaks in clear, and we encrypt: give all processes the same "
                                   "net.encrypt");
    case PSD_IDENTITY_SECRET:
        return psd_fail(PSD_EPEER, "encrypts, and we speak in clear: give all processes the same "
                                   "net.encrypt");
    default:
        return psd_fail(PSD_EPEER, "is no Poseidon");
    }
}

psd_status psd_channel_why_strange(const struct psd_channel *channel)
{
    unsigned long error = ERR_peek_error();
    int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;

    if (channel->claim.doubt != PSD_IDENTITY_SAME)
        return why_doubtful(channel->claim.doubt);
    if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
        return psd_fail(PSD_ENOMEM, "OpenSSL has no memory for a handshake");
    if (channel->socket.left == 0)
        return psd_fail(PSD_EPEER, "sends more than a handshake has");
    if (reason == SSL_R_BINDER_DOES_NOT_VERIFY || reason == ALERT + SSL_AD_DECRYPT_ERROR ||
        reason == ALERT + SSL_AD_ILLEGAL_PARAMETER)
        return psd_fail(PSD_EPEER, "has another key");
    if (reason == ALERT + SSL_AD_HANDSHAKE_FAILURE)
        return psd_fail(PSD_EPEER, "refuses us: it belongs to another job, or only one of us "
                                   "encrypts: give all processes the same net.encrypt");
    if (channel->socket.error || channel->socket.is_ended)
        return psd_channel_why_broken(channel);
    return psd_fail(PSD_EPEER, "is no Poseidon, or one of another version (%s)", say_error(error));
}
