/* net_strangers.h - callers at the port of a seat that are written by hand: sockets, and members by their key
 * that then say what a test wants. */
#ifndef PSD_TESTS_NET_STRANGERS_H
#define PSD_TESTS_NET_STRANGERS_H

#include "net/tcp/channel.h"
#include "net/tcp/opening.h"
#include "net/tcp/tcp.h"
#include "net/tcp/wire.h"
#include "net_tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* For a seat that nobody is too slow for. */
static const struct psd_net_config patient = {
    .job = 7, .timeout_ns = 120 * PSD_CLOCK_S, .caller_ns = 120 * PSD_CLOCK_S};

static inline int call(const struct seat *seat)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port_of(seat))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

/* Returns when the other side has closed; what it sends is of no interest. */
static inline void wait_for_close(int fd)
{
    char bytes[256];

    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        ;
    close(fd);
}

/* --- members, by their key ------------------------------------------------------------------------ */

static inline struct psd_trust *new_trust(bool in_clear)
{
    struct psd_trust *trust = NULL;

    CHECK_OK(psd_trust_create(seat_key, strlen(seat_key), 7, in_clear, &trust));
    return trust;
}

/* Somebody who has the key: a handshake, and then what the test wants. */
static inline struct psd_channel *call_with_key(const struct seat *seat,
                                                const struct psd_trust *trust)
{
    struct psd_channel *channel = NULL;
    unsigned wants = 1;
    int fd = call(seat);

    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    CHECK_OK(psd_channel_create(trust, fd, false, &channel));
    while (wants)
        CHECK_OK(psd_channel_shake(channel, &wants));
    return channel;
}

static inline void say_bytes(struct psd_channel *channel, const unsigned char bytes[PSD_WIRE_HEAD])
{
    struct iovec from = {(void *)(uintptr_t)bytes, PSD_WIRE_HEAD};
    size_t count = 0;

    while (count == 0)
        CHECK_OK(psd_channel_write(channel, &from, 1, &count));
    CHECK(count == PSD_WIRE_HEAD);
}

static inline void say(struct psd_channel *channel, const struct psd_wire_head *head)
{
    unsigned char bytes[PSD_WIRE_HEAD] = {0};

    psd_wire_encode(head, bytes);
    say_bytes(channel, bytes);
}

/* Opens a stream of a connection whose id is always the same. */
static inline void say_open(struct psd_channel *channel, uint16_t number, uint16_t count)
{
    struct psd_wire_head head = {.kind = PSD_WIRE_OPEN, .job = 7, .stream = number};
    struct psd_opening opening = {.id = "always the same", .number = number, .count = count};

    psd_opening_encode(&opening, head.header);
    say(channel, &head);
}

static inline bool has_a_connection(const struct seat *seat)
{
    return !psd_list_is_empty(&seat->endpoint->conns);
}

/* Returns when the other side has closed. */
static inline void wait_for_end_of(struct psd_channel *channel)
{
    char bytes[256];
    struct iovec to = {bytes, sizeof bytes};
    size_t count;

    while (psd_channel_read(channel, &to, 1, &count) == PSD_OK)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    psd_channel_destroy(channel);
}

#endif
