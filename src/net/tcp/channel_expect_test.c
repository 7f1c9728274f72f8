/* channel_expect_test.c - a socket is ready when as much has come as was expected, and at the end. */
#include "net/tcp/channel_state.h"
#include "stream_pair.h"

#include <poll.h>
#include <sys/ioctl.h>

enum { MANY = 120000, MOST = 128 << 10, FEW = 1000 };

static void write_bytes(struct psd_channel *channel, size_t bytes)
{
    static unsigned char zeros[MANY];

    while (bytes > 0) {
        size_t count = 0;
        CHECK_OK(psd_channel_write(channel, &(struct iovec){zeros, bytes}, 1, &count));
        bytes -= count;
    }
}

static bool is_ready(struct psd_channel *channel, int timeout_ms)
{
    struct pollfd fd = {.fd = psd_channel_fd(channel), .events = POLLIN};

    return poll(&fd, 1, timeout_ms) == 1;
}

/* Until at least so many bytes are there; encrypted they are a few more. */
static void wait_for_bytes(struct psd_channel *channel, int bytes)
{
    int there = 0;

    while (there < bytes)
        CHECK(ioctl(psd_channel_fd(channel), FIONREAD, &there) == 0);
}

static void what_was_expected_makes_it_ready(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct channel_pair pair;
        int first = in_clear ? MANY - 1 : MANY - PSD_SOCKET_RECORD - FEW;

        connect_channels(&pair, in_clear);
        psd_channel_expect(pair.channels[1], MANY);
        write_bytes(pair.channels[0], (size_t)first);
        wait_for_bytes(pair.channels[1], first);
        CHECK(!is_ready(pair.channels[1], 0));
        write_bytes(pair.channels[0], (size_t)(MANY - first));
        CHECK(is_ready(pair.channels[1], 60000));
        forget_channels(&pair);
    }
}

static void the_end_makes_it_ready(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct channel_pair pair;

        connect_channels(&pair, in_clear);
        psd_channel_expect(pair.channels[1], MANY);
        write_bytes(pair.channels[0], FEW);
        wait_for_bytes(pair.channels[1], FEW);
        CHECK(!is_ready(pair.channels[1], 0));
        psd_channel_destroy(pair.channels[0]);
        pair.channels[0] = NULL;
        CHECK(is_ready(pair.channels[1], 60000));
        forget_channels(&pair);
    }
}

static void who_expects_less_finds_it_ready(void)
{
    struct channel_pair pair;

    connect_channels(&pair, true);
    psd_channel_expect(pair.channels[1], MANY);
    write_bytes(pair.channels[0], FEW);
    wait_for_bytes(pair.channels[1], FEW);
    CHECK(!is_ready(pair.channels[1], 0));
    psd_channel_expect(pair.channels[1], 1);
    CHECK(is_ready(pair.channels[1], 60000));
    forget_channels(&pair);
}

static size_t mark_of(struct psd_channel *channel)
{
    int mark = 0;
    socklen_t size = sizeof mark;

    CHECK(getsockopt(psd_channel_fd(channel), SOL_SOCKET, SO_RCVLOWAT, &mark, &size) == 0);
    return (size_t)mark;
}

static void a_mark_is_never_above_what_is_expected_and_seldom_moved(void)
{
    static const struct {
        const char *why;
        size_t expected, clear, encrypted;
    } cases[] = {
        {"a head", 88, 1, 1},
        {"a payload", MANY, MANY, MANY - PSD_SOCKET_RECORD},
        {"its rest", 50000, 50000, 50000 - PSD_SOCKET_RECORD},
        {"somewhat more", 80000, 50000, 50000 - PSD_SOCKET_RECORD},
        {"much more", MANY, MANY, MANY - PSD_SOCKET_RECORD},
        {"the longest payload", (size_t)1 << 40, MANY, MANY - PSD_SOCKET_RECORD},
        {"a little", 5000, 1, 1},
        {"the longest again", (size_t)1 << 40, MOST, MOST},
    };

    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct channel_pair pair;
        connect_directly(&pair, in_clear);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            fprintf(stderr, "    %s\n", cases[i].why);
            psd_channel_expect(pair.channels[1], cases[i].expected);
            CHECK(mark_of(pair.channels[1]) == (in_clear ? cases[i].clear : cases[i].encrypted));
        }
        forget_channels(&pair);
    }
}

int main(int argc, char **argv)
{
    RUN(what_was_expected_makes_it_ready)
    RUN(the_end_makes_it_ready)
    RUN(who_expects_less_finds_it_ready)
    RUN(a_mark_is_never_above_what_is_expected_and_seldom_moved)
}
