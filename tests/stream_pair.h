/* stream_pair.h - two channels of one process that have shaken hands.
 *
 *     struct channel_pair pair;
 *     connect_channels(&pair, true);            in clear
 *     ... pair.channels[0], pair.channels[1] ...
 *     forget_channels(&pair);                   those that nobody has taken, and the key
 */
#ifndef PSD_TESTS_STREAM_PAIR_H
#define PSD_TESTS_STREAM_PAIR_H

#include "net/tcp/channel.h"
#include "test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { PAIR_JOB = 7 };

struct channel_pair {
    struct psd_trust *trusts[2];
    struct psd_channel *channels[2]; /* the client, the server; whoever takes one sets NULL */
};

/* Two ends of a connection over the loopback. */
static inline void connect_sockets(int fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, size) == 0);
    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fds[0] >= 0 && connect(fds[0], (struct sockaddr *)&address, size) == 0);
    fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fds[1] >= 0);
    close(listener);
    for (int i = 0; i < 2; i++)
        CHECK(fcntl(fds[i], F_SETFL, O_NONBLOCK) == 0);
}

/* Lets both go on until they are done. */
static inline void shake_hands(struct psd_channel *const channels[2])
{
    unsigned wants[2] = {1, 1};

    while (wants[0] || wants[1]) {
        CHECK_OK(psd_channel_shake(channels[0], &wants[0]));
        CHECK_OK(psd_channel_shake(channels[1], &wants[1]));
    }
}

/* in_kernel: the server's channel is the kernel's, if that can encrypt. */
static inline void connect_over(struct channel_pair *pair, bool in_clear, bool in_kernel,
                                const int fds[2])
{
    static const char key[] = "0123456789abcdef0123456789abcdef";

    for (int i = 0; i < 2; i++) {
        CHECK_OK(psd_trust_create(key, sizeof key, PAIR_JOB, in_clear, &pair->trusts[i]));
        if (in_kernel && i == 1)
            psd_trust_use_kernel(pair->trusts[i]);
        CHECK_OK(psd_channel_create(pair->trusts[i], fds[i], i == 1, &pair->channels[i]));
    }
    shake_hands(pair->channels);
}

static inline void connect_channels(struct channel_pair *pair, bool in_clear)
{
    int fds[2];

    connect_sockets(fds);
    connect_over(pair, in_clear, false, fds);
}

/* Without a network: what is written is there at once. */
static inline void connect_directly(struct channel_pair *pair, bool in_clear)
{
    int fds[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    connect_over(pair, in_clear, false, fds);
}

static inline void forget_channels(struct channel_pair *pair)
{
    for (int i = 0; i < 2; i++) {
        psd_channel_destroy(pair->channels[i]);
        psd_trust_destroy(pair->trusts[i]);
    }
}

#endif
