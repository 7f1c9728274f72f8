/* channel_expect.c - a socket that becomes ready when enough has come (SO_RCVLOWAT).
 *
 *     [ packet | packet | packet | packet ...          one wake-up, where there would be four
 *                                        ^ the mark
 *
 * Whatever the mark is, the kernel makes the socket ready when the connection ends, and when it has no room
 * for more; and it makes room for twice the mark, if it may. */
#include "net/tcp/channel_state.h"

#include <sys/socket.h>

/* More than MOST would spare a few more wake-ups. But where all processors are busy a thread that wakes up
 * waits for its turn, and what it should have sent meanwhile waits with it. */
enum {
    MOST = 128 << 10, /* bytes */
    LEAST = 16 << 10, /* fewer are not worth a system call */
};

/* Of a record that has begun to come OpenSSL may have all but the last byte. */
static size_t mark_for(const struct psd_channel *channel, size_t bytes)
{
    size_t inside = channel->ssl ? PSD_SOCKET_RECORD : 0;
    size_t mark = bytes > inside ? bytes - inside : 0;

    if (mark < LEAST)
        return 1;
    return mark < MOST ? mark : MOST;
}

/* A mark that is somewhat lower than it could be stays. The kernel's TLS wakes nobody before a record is
 * whole, and has no mark: older kernels, while they wait for one, forget why the next record is refused. */
void psd_channel_expect(struct psd_channel *channel, size_t bytes)
{
    size_t mark = mark_for(channel, bytes);
    int value = (int)mark;

    if (channel->in_kernel || (channel->mark <= mark && channel->mark >= mark / 2))
        return;
    if (setsockopt(channel->socket.fd, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value) == 0)
        channel->mark = mark;
}
