/* leg.c - one socket of a connection: its options, its handshake, its stream. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "net/tcp/tcp.h"

#include <limits.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* A caller has taken too long. */
static void be_late(void *arg)
{
    struct psd_tcp_leg *leg = arg;

    leg->endpoint->refusals.late++;
    psd_tcp_listen_refuse(leg);
}

psd_status psd_tcp_leg_create(struct psd_endpoint *endpoint, struct psd_tcp_conn *conn,
                              struct psd_tcp_leg **out)
{
    struct psd_tcp_leg *leg = psd_alloc_zero(1, sizeof *leg);

    if (!leg)
        return PSD_ENOMEM;
    leg->endpoint = endpoint;
    leg->conn = conn;
    leg->fd = -1;
    leg->number = PSD_WIRE_ANY;
    psd_list_init(&leg->link);
    *out = leg;
    return PSD_OK;
}

void psd_tcp_leg_destroy(struct psd_tcp_leg *leg)
{
    if (!leg)
        return;
    leg->endpoint->put_off -= leg->is_put_off;
    psd_list_remove(&leg->link);
    psd_loop_cancel(leg->endpoint->loop, &leg->timer);
    psd_loop_unwatch(leg->endpoint->loop, &leg->watch);
    if (leg->fd >= 0)
        close(leg->fd);
    psd_channel_destroy(leg->channel);
    if (leg->stream)
        psd_stream_close(leg->stream);
    psd_alloc_free(leg);
}

/* --- until there is a stream ----------------------------------------------------------------------
 */

/* 0: the kernel's own patience, a quarter of an hour. */
static void set_patience(int fd, uint64_t ns)
{
    unsigned ms = (unsigned)(ns / PSD_CLOCK_MS);

    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

/* The kernel doubles what it is told, for what it needs itself, which is little beside large packets. It
 * does not tell that it may not give as much: then what it gives is too little, and the answer is false. */
static bool try_window(int fd, size_t bytes)
{
    int half = bytes < INT_MAX ? (int)(bytes / 2) : INT_MAX / 2, given = 0;
    socklen_t size = sizeof given;

    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof half);
    return getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &given, &size) == 0 && given / 2 >= half;
}

/* Where it is to be none, or cannot be had, the kernel is asked to choose by itself again. */
static void set_window(int fd, size_t bytes)
{
    int unlocked = 0;

    if (bytes == 0 || !try_window(fd, bytes))
        (void)setsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &unlocked, sizeof unlocked);
}

/* Nothing here is needed for frames to be right, and what the kernel refuses is left as it is. */
void psd_tcp_leg_tune(const struct psd_endpoint *endpoint, int fd)
{
    int yes = 1;

    psd_congestion_choose(fd, endpoint->congestion);
    if (endpoint->config.window)
        set_window(fd, endpoint->config.window);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    set_patience(fd, endpoint->config.timeout_ns);
}

void psd_tcp_leg_set_window(const struct psd_tcp_leg *leg, size_t bytes)
{
    int fd = leg->fd;

    if (leg->stream)
        fd = psd_stream_fd(leg->stream);
    else if (leg->channel)
        fd = psd_channel_fd(leg->channel);
    set_window(fd, bytes);
}

static void fail(struct psd_tcp_leg *leg, psd_status status)
{
    char why[2 * PSD_REASON_SIZE];

    if (!leg->conn) {
        leg->endpoint->refusals.handshakes += status == PSD_EPEER;
        psd_tcp_listen_refuse(leg);
        return;
    }
    psd_tcp_conn_say_error(leg->conn, status, why, sizeof why);
    psd_tcp_conn_end(leg->conn, why);
}

/* The lane of the next stream. */
static struct psd_loop *take_lane(struct psd_endpoint *endpoint)
{
    if (endpoint->config.lanes == 0)
        return endpoint->loop;
    return endpoint->lanes[endpoint->next_lane++ % endpoint->config.lanes];
}

/* The handshake is done: the peer has our key. From now on beats tell whether it lives, and better than
 * the kernel's timeout, which also runs while a peer that answers has no room for what it has put off. */
static psd_status start_stream(struct psd_tcp_leg *leg)
{
    struct psd_endpoint *endpoint = leg->endpoint;
    struct psd_stream_options options = {.channel = leg->channel,
                                         .loop = endpoint->loop,
                                         .lane = take_lane(endpoint),
                                         .handler = &psd_tcp_hear,
                                         .user = leg,
                                         .job = endpoint->config.job,
                                         .epoch = endpoint->config.epoch,
                                         .number = leg->number,
                                         .refusals = &endpoint->refusals};

    psd_loop_unwatch(endpoint->loop, &leg->watch);
    set_patience(psd_channel_fd(leg->channel), 0);
    leg->channel = NULL; /* the stream's */
    PSD_TRY(psd_stream_create(&options, &leg->stream));
    if (!leg->conn)
        return psd_tcp_leg_hurry(leg);
    psd_tcp_leg_open(leg);
    return PSD_OK;
}

static void shake(void *arg, unsigned events)
{
    struct psd_tcp_leg *leg = arg;
    unsigned wants = 0;

    (void)events;
    psd_status status = psd_channel_shake(leg->channel, &wants);
    if (status == PSD_OK && wants)
        status = psd_tcp_leg_watch(leg, psd_channel_fd(leg->channel), wants, shake);
    else if (status == PSD_OK)
        status = start_stream(leg);
    if (status != PSD_OK)
        fail(leg, status);
}

psd_status psd_tcp_leg_watch(struct psd_tcp_leg *leg, int fd, unsigned events,
                             void (*fn)(void *arg, unsigned events))
{
    return psd_loop_watch(leg->endpoint->loop, fd, events, fn, leg, &leg->watch);
}

psd_status psd_tcp_leg_shake(struct psd_tcp_leg *leg, int fd)
{
    bool is_server = !leg->conn;

    psd_loop_unwatch(leg->endpoint->loop, &leg->watch);
    PSD_TRY(psd_channel_create(leg->endpoint->trust, fd, is_server, &leg->channel));
    return psd_tcp_leg_watch(leg, fd, is_server ? PSD_LOOP_READ : PSD_LOOP_WRITE, shake);
}

psd_status psd_tcp_leg_hurry(struct psd_tcp_leg *leg)
{
    uint64_t when = psd_clock_now() + leg->endpoint->config.caller_ns;

    return psd_loop_at(leg->endpoint->loop, when, be_late, leg, &leg->timer);
}

/* --- from then on --------------------------------------------------------------------------------
 */

void psd_tcp_leg_open(struct psd_tcp_leg *leg)
{
    struct psd_opening opening = {
        .number = leg->number, .count = leg->conn->count, .port = leg->endpoint->port};
    unsigned char header[PSD_FRAME_HEADER];

    memcpy(opening.id, leg->conn->id, sizeof opening.id);
    psd_opening_encode(&opening, header);
    psd_stream_open(leg->stream, header);
}

void psd_tcp_leg_join(struct psd_tcp_leg *leg, struct psd_tcp_conn *conn, uint16_t number)
{
    leg->conn = conn;
    leg->number = number;
    conn->legs[number] = leg;
    psd_loop_cancel(leg->endpoint->loop, &leg->timer);
}

void psd_tcp_leg_put_off(struct psd_tcp_leg *leg)
{
    leg->endpoint->put_off += !leg->is_put_off;
    leg->is_put_off = true;
}

void psd_tcp_leg_ask_again(struct psd_tcp_leg *leg)
{
    if (!leg->is_put_off)
        return;
    leg->is_put_off = false;
    leg->endpoint->put_off--;
    psd_stream_ask_again(leg->stream);
}
