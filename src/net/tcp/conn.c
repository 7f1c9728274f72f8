/* conn.c - a connection of one or several streams, as its user sees it.
 *
 *     connect --> meeting --- all streams there, both opens on each ---> open --> gone
 *     a caller's open --'
 *
 * Frames go to the stream on which the fewest bytes wait. What its streams tell is in hear.c. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "net/tcp/tcp.h"

#include <stdio.h>
#include <string.h>

void psd_tcp_conn_hold(struct psd_tcp_conn *conn)
{
    conn->refs++;
}

void psd_tcp_conn_release(struct psd_tcp_conn *conn)
{
    if (--conn->refs == 0)
        psd_alloc_free(conn);
}

/* The endpoint's no more: all sockets are closed, all frames the sender's again. */
static void leave(struct psd_tcp_conn *conn)
{
    conn->state = PSD_TCP_GONE;
    psd_list_remove(&conn->link);
    psd_loop_cancel(conn->endpoint->loop, &conn->timer);
    for (unsigned i = 0; i < conn->count; i++)
        psd_tcp_leg_destroy(conn->legs[i]);
    psd_tcp_conn_release(conn);
}

void psd_tcp_conn_say(const struct psd_tcp_conn *conn, const char *what, char *out, size_t size)
{
    snprintf(out, size, "%s://%s %s", psd_transport_tcp.scheme, conn->peer, what);
}

void psd_tcp_conn_say_error(const struct psd_tcp_conn *conn, psd_status status, char *out,
                            size_t size)
{
    if (status == PSD_EPEER)
        psd_tcp_conn_say(conn, psd_error(), out, size);
    else if (status == PSD_ENOMEM)
        psd_reason_say(PSD_REASON_MEMORY, psd_transport_tcp.scheme, conn->peer, out, size);
    else
        snprintf(out, size, "%s", psd_error());
}

void psd_tcp_conn_end(struct psd_tcp_conn *conn, const char *why)
{
    const struct psd_net_handler *handler = conn->endpoint->handler;
    void *user = conn->endpoint->user;
    bool is_known = conn->is_dialed || conn->state == PSD_TCP_OPEN;
    char copy[sizeof conn->why]; /* what breaks may own the sentence */

    snprintf(copy, sizeof copy, "%s", why);
    psd_tcp_conn_hold(conn);
    leave(conn);
    if (is_known)
        handler->closed(user, &conn->conn, copy);
    psd_tcp_conn_release(conn);
}

static void end_now(void *arg)
{
    struct psd_tcp_conn *conn = arg;

    psd_tcp_conn_end(conn, conn->why);
}

void psd_tcp_conn_end_soon(struct psd_tcp_conn *conn, const char *why)
{
    snprintf(conn->why, sizeof conn->why, "%s", why);
    (void)psd_loop_at(conn->endpoint->loop, 0, end_now, conn, &conn->timer);
}

/* The streams are not all there in time. */
static void be_late(void *arg)
{
    struct psd_tcp_conn *conn = arg;

    conn->endpoint->refusals.late += !conn->is_dialed;
    psd_reason_say_time(PSD_REASON_LATE, psd_transport_tcp.scheme, conn->peer,
                        conn->endpoint->config.timeout_ns, conn->why, sizeof conn->why);
    psd_tcp_conn_end(conn, conn->why);
}

psd_status psd_tcp_conn_create(struct psd_endpoint *endpoint, const struct psd_opening *opening,
                               const char *peer, struct psd_tcp_conn **out)
{
    size_t legs = opening->count * sizeof(struct psd_tcp_leg *);
    struct psd_tcp_conn *conn = psd_alloc_zero(1, sizeof *conn + legs);
    uint64_t deadline = psd_clock_now() + endpoint->config.timeout_ns;

    if (!conn)
        return PSD_ENOMEM;
    conn->conn.transport = &psd_transport_tcp;
    conn->endpoint = endpoint;
    conn->refs = 1;
    conn->count = opening->count;
    memcpy(conn->id, opening->id, sizeof conn->id);
    snprintf(conn->peer, sizeof conn->peer, "%s", peer);
    psd_status status = psd_loop_at(endpoint->loop, deadline, be_late, conn, &conn->timer);
    if (status != PSD_OK) {
        psd_alloc_free(conn);
        return status;
    }
    psd_list_push_back(&endpoint->conns, &conn->link);
    *out = conn;
    return PSD_OK;
}

/* --- sending --------------------------------------------------------------------------------------
 */

static void put(struct psd_tcp_conn *conn, struct psd_frame *frame)
{
    struct psd_stream *least = conn->legs[0]->stream;

    for (unsigned i = 1; i < conn->count; i++) {
        struct psd_stream *stream = conn->legs[i]->stream;
        if (psd_stream_queued(stream) < psd_stream_queued(least))
            least = stream;
    }
    psd_stream_send(least, frame);
}

void psd_tcp_conn_send(struct psd_conn *conn, struct psd_frame *frame)
{
    struct psd_tcp_conn *tcp = (struct psd_tcp_conn *)conn;

    if (tcp->state == PSD_TCP_GONE) /* it is being closed: this is its handler */
        return;
    PSD_ON_LOOP(tcp->endpoint->loop);
    if (tcp->state == PSD_TCP_OPEN)
        put(tcp, frame);
    else
        psd_frames_put(&tcp->kept, frame);
}

static void send_kept(struct psd_tcp_conn *conn)
{
    struct psd_frame *frame;

    while ((frame = psd_frames_take(&conn->kept)))
        put(conn, frame);
}

void psd_tcp_conn_drop(struct psd_conn *conn)
{
    struct psd_tcp_conn *tcp = (struct psd_tcp_conn *)conn;

    if (tcp->state == PSD_TCP_GONE) /* it is being closed: this is its handler */
        return;
    PSD_ON_LOOP(tcp->endpoint->loop);
    leave(tcp);
}

/* --- all are there --------------------------------------------------------------------------------
 */

static bool has_all(const struct psd_tcp_conn *conn)
{
    for (unsigned i = 0; i < conn->count; i++) {
        if (!conn->legs[i] || !conn->legs[i]->is_open)
            return false;
    }
    return true;
}

void psd_tcp_conn_meet(struct psd_tcp_conn *conn)
{
    const struct psd_net_handler *handler = conn->endpoint->handler;
    void *user = conn->endpoint->user;

    if (!has_all(conn))
        return;
    conn->state = PSD_TCP_OPEN;
    conn->open_ns = psd_clock_now();
    (void)psd_loop_at(conn->endpoint->loop, PSD_CLOCK_NEVER, end_now, conn, &conn->timer);
    for (unsigned i = 0; i < conn->count; i++) {
        if (!conn->is_dialed)
            psd_tcp_leg_open(conn->legs[i]);
        psd_tcp_leg_ask_again(conn->legs[i]);
    }
    send_kept(conn);
    if (conn->is_dialed)
        handler->connected(user, &conn->conn);
    else
        handler->accepted(user, &conn->conn);
}
