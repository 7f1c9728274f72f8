/* channel_clear.c - after the handshake nothing stands between the user's memory and the kernel. */
#include "base/status.h"
#include "net/tcp/channel_state.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

psd_status psd_channel_stopped(struct psd_channel *channel)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return PSD_OK;
    channel->socket.error = errno;
    return psd_channel_why_broken(channel);
}

psd_status psd_channel_was_read(struct psd_channel *channel, size_t bytes, size_t *count)
{
    *count = bytes;
    if (bytes > 0)
        return PSD_OK;
    channel->socket.is_ended = true;
    return psd_channel_why_broken(channel);
}

psd_status psd_channel_read_clear(struct psd_channel *channel, const struct iovec *to, int spans,
                                  size_t *count)
{
    ssize_t moved = readv(channel->socket.fd, to, spans);

    *count = 0;
    return moved < 0 ? psd_channel_stopped(channel)
                     : psd_channel_was_read(channel, (size_t)moved, count);
}

ssize_t psd_channel_send(const struct psd_channel *channel, const struct iovec *from, int spans)
{
    struct msghdr message = {.msg_iovlen = (size_t)spans};

    /* sendmsg changes nothing there, whatever its type says. */
    memcpy(&message.msg_iov, &from, sizeof from);
    return sendmsg(channel->socket.fd, &message, MSG_NOSIGNAL);
}

psd_status psd_channel_write_clear(struct psd_channel *channel, const struct iovec *from, int spans,
                                   size_t *count)
{
    ssize_t moved = psd_channel_send(channel, from, spans);

    *count = moved > 0 ? (size_t)moved : 0;
    return moved >= 0 ? PSD_OK : psd_channel_stopped(channel);
}
