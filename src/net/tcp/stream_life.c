/* stream_life.c - beats, and what shows that the peer lives. */
#include "base/clock.h"
#include "net/tcp/stream_state.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Bytes that have come and wait for us are a sign of life, too: we may have been stopped ourselves, or
 * wait for more of them (psd_channel_expect). Those that were there a beat ago, though nobody puts a frame
 * off, are not: the kernel's TLS gives nothing of a record of which a part is missing. */
static bool has_unread(struct psd_stream *stream)
{
    int bytes = 0, before = stream->unread;

    if (ioctl(stream->fd, FIONREAD, &bytes))
        bytes = 0;
    stream->unread = bytes;
    return bytes > 0 && (bytes != before || stream->is_put_off);
}

/* Since when the peer's kernel has answered nothing. While it has no room it answers probes, which come
 * at ever longer intervals and of which it may leave one out: two in a row that were not answered count,
 * from when we saw the first. */
static uint64_t stuck_since(struct psd_stream *stream, uint64_t now)
{
    struct tcp_info info = {.tcpi_unacked = 0};
    socklen_t size = sizeof info;

    if (getsockopt(stream->fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return 0;
    if (!info.tcpi_probes)
        stream->probing_since = 0;
    else if (!stream->probing_since)
        stream->probing_since = now;
    psd_stream_lock(stream);
    uint64_t since = stream->box.wrote_ns;
    if (!info.tcpi_unacked) /* the clock starts with the next byte */
        stream->box.wrote_ns = 0;
    psd_stream_unlock(stream);
    if (!info.tcpi_unacked)
        return info.tcpi_probes > 1 ? stream->probing_since : 0;
    uint64_t ack = now - info.tcpi_last_ack_recv * PSD_CLOCK_MS;
    return ack > since ? ack : since;
}

void psd_stream_beat(struct psd_stream *stream, struct psd_stream_life *out)
{
    uint64_t now = psd_clock_now();

    PSD_ON_LOOP(stream->options.loop);
    bool is_heard = has_unread(stream);
    uint64_t stuck = stuck_since(stream, now);
    psd_stream_lock(stream);
    out->heard_ns = is_heard ? now : stream->box.heard_ns;
    stream->box.wants_reading |= is_heard; /* or they would be one the next time, too */
    stream->box.wants_beat = true;
    psd_stream_call_lane(stream); /* and loop: if there was no memory for a post */
    psd_stream_call_loop(stream);
    psd_stream_unlock(stream);
    out->stuck_ns = stuck;
}
