/* beats.c - we live, and who does not.
 *
 * Every beat each stream on which nothing else is being written says so with an empty frame, and each
 * connection is looked at: a peer from which nothing has come for the timeout has left, which is told with
 * the last beat before that is over, and so has one whose kernel acknowledges nothing of what we send. */
#include "base/clock.h"
#include "net/tcp/tcp.h"

static const uint64_t longest_ns = PSD_CLOCK_S / 2;   /* between two beats */
static const uint64_t stuck_ns = 2000 * PSD_CLOCK_MS; /* without an acknowledgement */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void end(struct psd_tcp_conn *conn, enum psd_reason reason, uint64_t time_ns)
{
    char why[2 * PSD_REASON_SIZE];

    psd_reason_say_time(reason, psd_transport_tcp.scheme, conn->peer, time_ns, why, sizeof why);
    psd_tcp_conn_end_soon(conn, why);
}

/* What is put off is not read, so its silence says nothing. Before all streams are there nobody beats. Nor is
 * anybody blamed for the time in which we were asleep ourselves: others may have been, too, and have as long
 * as ever from when we woke up. */
static void look(struct psd_tcp_conn *conn, const struct psd_tcp_leg *leg,
                 const struct psd_stream_life *life, uint64_t now)
{
    const struct psd_endpoint *endpoint = conn->endpoint;
    uint64_t timeout = endpoint->config.timeout_ns, stuck = least(stuck_ns, timeout);
    uint64_t talking = latest(conn->open_ns, endpoint->awake_ns);

    if (!leg->is_put_off && now + endpoint->beat_ns > latest(life->heard_ns, talking) + timeout)
        end(conn, PSD_REASON_SILENT, timeout);
    else if (life->stuck_ns && now > latest(life->stuck_ns, endpoint->awake_ns) + stuck)
        end(conn, PSD_REASON_STUCK, stuck);
}

static void beat(void *arg)
{
    struct psd_endpoint *endpoint = arg;
    uint64_t now = psd_clock_now();

    if (now > endpoint->beat.when_ns + endpoint->beat_ns)
        endpoint->awake_ns = now;
    (void)psd_loop_at(endpoint->loop, now + endpoint->beat_ns, beat, endpoint, &endpoint->beat);
    psd_tcp_listen_again(endpoint);
    PSD_LIST_EACH (link, &endpoint->conns) {
        struct psd_tcp_conn *conn = PSD_CONTAINER_OF(link, struct psd_tcp_conn, link);
        for (unsigned i = 0; i < conn->count && conn->state == PSD_TCP_OPEN; i++) {
            struct psd_stream_life life;
            psd_stream_beat(conn->legs[i]->stream, &life);
            look(conn, conn->legs[i], &life, now);
        }
    }
}

psd_status psd_tcp_beats_start(struct psd_endpoint *endpoint)
{
    endpoint->beat_ns = least(endpoint->config.timeout_ns / 8, longest_ns);
    return psd_loop_at(endpoint->loop, psd_clock_now() + endpoint->beat_ns, beat, endpoint,
                       &endpoint->beat);
}
