/* channel_fuzz.c - any bytes as what a stranger says in a handshake: nobody gets in, and nothing crashes.
 *
 * The first byte's lowest bit says whether the stranger is a client or a server. */
#include "fuzz.h"
#include "net/tcp/channel_state.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct psd_trust *its_trust(void)
{
    static const char key[] = "0123456789abcdef0123456789abcdef";
    static struct psd_trust *trust; /* for all inputs */

    if (!trust && psd_trust_create(key, sizeof key - 1, 5, false, &trust) != PSD_OK)
        abort();
    return trust;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_channel *channel = NULL;
    psd_status status = PSD_OK;
    unsigned wants = 1;
    int fds[2];

    if (size < 1 || size > 20000 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0)
        return 0;
    if (psd_channel_create(its_trust(), fds[0], data[0] & 1, &channel) != PSD_OK)
        abort();
    if (send(fds[1], data + 1, size - 1, MSG_NOSIGNAL) != (ssize_t)size - 1)
        abort();
    shutdown(fds[1], SHUT_WR);
    for (int turn = 0; turn < 5 && status == PSD_OK; turn++)
        status = psd_channel_shake(channel, &wants);
    if (status != PSD_EPEER)
        abort(); /* the stranger has left without having the key */
    psd_channel_destroy(channel);
    close(fds[1]);
    return 0;
}
