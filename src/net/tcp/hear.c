/* hear.c - what the streams of a connection tell, passed on to its user.
 *
 * What comes before all streams are there is put off. Whatever breaks one stream ends them all. A handler
 * of the user's may close the connection or the endpoint: whoever calls one holds the connection, and looks
 * at its state before it goes on. */
#include "base/status.h"
#include "net/tcp/landing.h"
#include "net/tcp/tcp.h"

#include <stdio.h>
#include <string.h>

static psd_status opened(void *user, uint16_t number, const unsigned char *header)
{
    struct psd_tcp_leg *leg = user;
    struct psd_tcp_conn *conn = leg->conn;
    struct psd_opening opening;

    psd_status status = psd_opening_decode(header, &opening);
    if (status == PSD_OK && opening.number != number)
        status = psd_fail(PSD_EPEER, "opens a stream as number %u and as number %u", number,
                          opening.number);
    if (status == PSD_OK && !conn)
        return psd_tcp_listen_opened(leg, &opening);
    if (status == PSD_OK && (opening.number != leg->number || opening.count != conn->count ||
                             memcmp(opening.id, conn->id, sizeof conn->id) != 0))
        status = psd_fail(PSD_EPEER, "has answered for another connection");
    if (status != PSD_OK) {
        leg->endpoint->refusals.garbled++;
        return status;
    }
    leg->is_open = true;
    psd_tcp_conn_meet(conn);
    return PSD_OK;
}

/* The user refuses a frame: its sentence is why the connection ends. */
static void note_refusal(struct psd_tcp_conn *conn)
{
    conn->is_refused = true;
    snprintf(conn->why, sizeof conn->why, "%s", psd_error());
}

static psd_status place(void *user, const unsigned char *header, size_t bytes,
                        struct psd_place *out)
{
    struct psd_tcp_leg *leg = user;
    struct psd_tcp_conn *conn = leg->conn;
    psd_status status = PSD_OK;

    psd_tcp_conn_hold(conn);
    if (conn->state == PSD_TCP_OPEN)
        status =
            conn->endpoint->handler->place(conn->endpoint->user, &conn->conn, header, bytes, out);
    else
        out->later = true;
    if (conn->state == PSD_TCP_OPEN && status == PSD_OK && !out->later)
        status = psd_landing_check(out, bytes);
    if (conn->state != PSD_TCP_GONE && status != PSD_OK)
        note_refusal(conn);
    else if (conn->state != PSD_TCP_GONE && out->later)
        psd_tcp_leg_put_off(leg);
    psd_tcp_conn_release(conn);
    return status;
}

/* Something has arrived: frames that waited for that are offered again. */
static void wake_put_off(struct psd_endpoint *endpoint)
{
    if (endpoint->put_off == 0)
        return;
    PSD_LIST_EACH (link, &endpoint->conns) {
        struct psd_tcp_conn *conn = PSD_CONTAINER_OF(link, struct psd_tcp_conn, link);
        for (unsigned i = 0; i < conn->count; i++) {
            if (conn->legs[i])
                psd_tcp_leg_ask_again(conn->legs[i]);
        }
    }
}

static psd_status arrived(void *user, const unsigned char *header)
{
    struct psd_tcp_leg *leg = user;
    struct psd_tcp_conn *conn = leg->conn;

    psd_tcp_conn_hold(conn);
    psd_status status = conn->endpoint->handler->arrived(conn->endpoint->user, &conn->conn, header);
    if (conn->state != PSD_TCP_GONE && status != PSD_OK)
        note_refusal(conn);
    else if (conn->state != PSD_TCP_GONE)
        wake_put_off(conn->endpoint);
    psd_tcp_conn_release(conn);
    return status;
}

static void sent(void *user, struct psd_frame *frame)
{
    const struct psd_tcp_leg *leg = user;
    const struct psd_endpoint *endpoint = leg->endpoint;

    endpoint->handler->sent(endpoint->user, &leg->conn->conn, frame);
}

static void broken(void *user, bool is_bye, const char *why)
{
    struct psd_tcp_leg *leg = user;
    struct psd_tcp_conn *conn = leg->conn;

    if (!conn) {
        psd_tcp_listen_refuse(leg);
        return;
    }
    if (is_bye)
        psd_reason_say(PSD_REASON_CLOSED, psd_transport_tcp.scheme, conn->peer, conn->why,
                       sizeof conn->why);
    else if (!conn->is_refused)
        psd_tcp_conn_say(conn, why, conn->why, sizeof conn->why);
    psd_tcp_conn_end(conn, conn->why);
}

const struct psd_stream_handler psd_tcp_hear = {
    .place = place, .arrived = arrived, .sent = sent, .opened = opened, .broken = broken};
