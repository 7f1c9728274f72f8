/* dial.c - connecting: as many sockets as the connection has streams, all at the same time. */
#include "base/status.h"
#include "net/tcp/tcp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Why connect has failed, as a sentence. */
static void say(const struct psd_tcp_conn *conn, int error, char *out, size_t size)
{
    const char *scheme = psd_transport_tcp.scheme;
    char reason[128];

    if (error == ECONNREFUSED)
        psd_reason_say(PSD_REASON_NOBODY, scheme, conn->peer, out, size);
    else if (error == EHOSTUNREACH || error == ENETUNREACH)
        psd_reason_say(PSD_REASON_UNREACHABLE, scheme, conn->peer, out, size);
    else if (error == ETIMEDOUT)
        psd_reason_say_time(PSD_REASON_LATE, scheme, conn->peer, conn->endpoint->config.timeout_ns,
                            out, size);
    else
        snprintf(out, size, "%s://%s cannot be reached: %s", scheme, conn->peer,
                 strerror_r(error, reason, sizeof reason));
}

/* The socket is connected, or never will be. */
static void connected(void *arg, unsigned events)
{
    struct psd_tcp_leg *leg = arg;
    char why[2 * PSD_REASON_SIZE];
    int error = 0, fd = leg->fd;
    socklen_t size = sizeof error;

    (void)events;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
        error = errno;
    if (error) {
        say(leg->conn, error, why, sizeof why);
        psd_tcp_conn_end(leg->conn, why);
        return;
    }
    leg->fd = -1; /* the channel's */
    psd_status status = psd_tcp_leg_shake(leg, fd);
    if (status == PSD_OK)
        return;
    psd_tcp_conn_say_error(leg->conn, status, why, sizeof why);
    psd_tcp_conn_end(leg->conn, why);
}

/* Starts one leg. A socket that fails at once is heard of soon, as one that fails later. */
static psd_status start(struct psd_tcp_conn *conn, unsigned number, const union psd_tcp_name *to)
{
    struct psd_tcp_leg *leg = NULL;
    char why[2 * PSD_REASON_SIZE];

    PSD_TRY(psd_tcp_leg_create(conn->endpoint, conn, &leg));
    psd_tcp_leg_join(leg, conn, (uint16_t)number);
    leg->fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (leg->fd < 0)
        return psd_fail(PSD_ENOMEM, "no socket for tcp://%s: %s", conn->peer,
                        strerror_r(errno, why, sizeof why));
    psd_tcp_leg_tune(conn->endpoint, leg->fd);
    if (connect(leg->fd, &to->any, psd_tcp_name_size(to)) && errno != EINPROGRESS) {
        say(conn, errno, why, sizeof why);
        psd_tcp_conn_end_soon(conn, why);
        return PSD_OK;
    }
    return psd_tcp_leg_watch(leg, leg->fd, PSD_LOOP_WRITE, connected);
}

/* Whether a range of ports stands behind the host, which may have hyphens, and in brackets colons. */
static bool has_range(const char *text)
{
    const char *bracket = strrchr(text, ']'), *ports = strchr(bracket ? bracket : text, ':');

    return ports && strchr(ports, '-');
}

static psd_status read_address(const char *text, union psd_tcp_name *out)
{
    struct psd_tcp_address address;

    PSD_TRY(psd_tcp_address_read(text, &address));
    if (address.name.any.sa_family == AF_UNSPEC || address.first == 0 ||
        (has_range(text) && address.first != address.last))
        return psd_fail(PSD_ECONFIG,
                        "tcp://%s is no address to connect to: one has a host and one port", text);
    *out = address.name;
    psd_tcp_name_set_port(out, address.first);
    return PSD_OK;
}

psd_status psd_tcp_dial(struct psd_endpoint *endpoint, const char *address, struct psd_conn **out)
{
    struct psd_opening opening = {.count = (uint16_t)endpoint->config.streams};
    struct psd_tcp_conn *conn = NULL;
    psd_status status = PSD_OK;
    union psd_tcp_name to = {.v4.sin_port = 0};
    char peer[PSD_TCP_TEXT];

    PSD_ON_LOOP(endpoint->loop);
    PSD_TRY(read_address(address, &to));
    if (getrandom(opening.id, sizeof opening.id, 0) != (ssize_t)sizeof opening.id)
        return psd_fail(PSD_ENOSUP, "the system has no random numbers");
    psd_tcp_name_write(&to, peer);
    PSD_TRY(psd_tcp_conn_create(endpoint, &opening, peer, &conn));
    conn->is_dialed = true;
    for (unsigned i = 0; i < conn->count && status == PSD_OK; i++)
        status = start(conn, i, &to);
    if (status == PSD_OK)
        *out = &conn->conn;
    else
        psd_tcp_conn_drop(&conn->conn);
    return status;
}
