/* listen.c - the one port, and who comes to it.
 *
 *     accept --> [ at most 16 callers: handshake within 2 s, open within 2 s ] --> a leg of a connection
 *
 * Strangers cost a bounded handful of sockets and handshakes: while there are 16 callers nobody is
 * accepted, and who comes waits in the kernel. */
#include "base/status.h"
#include "net/tcp/tcp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- the port --------------------------------------------------------------------------------------
 */

/* Returns 0, and the endpoint listens, or an errno. With SO_REUSEADDR from the beginning a port is free as
 * soon as nobody listens at it, whatever old connections of it still fade; but also while somebody holds it
 * for another. */
static int try_port(struct psd_endpoint *endpoint, union psd_tcp_name *name, uint16_t port,
                    bool may_share)
{
    int fd = socket(name->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0)
        return errno;
    psd_tcp_name_set_port(name, port);
    if (may_share)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    int error = bind(fd, &name->any, psd_tcp_name_size(name)) ? errno : 0;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!error)
        psd_congestion_choose(fd, endpoint->congestion); /* and so for all that are accepted */
    if (!error && listen(fd, SOMAXCONN))
        error = errno;
    if (error)
        close(fd);
    else
        endpoint->listener = fd;
    return error;
}

static psd_status say_why_not(const struct psd_tcp_address *at, int error)
{
    char host[PSD_TCP_TEXT], reason[128];
    union psd_tcp_name name = at->name;

    psd_tcp_name_set_port(&name, 0);
    psd_tcp_name_write(&name, host);
    if (error == EADDRINUSE && at->first == at->last)
        return psd_fail(PSD_ECONFIG,
                        "port %u of tcp://%s is taken: choose another, or a range such as %u-%u",
                        at->first, host, at->first, at->first + 99U);
    if (error == EADDRINUSE)
        return psd_fail(PSD_ECONFIG, "all ports %u-%u of tcp://%s are taken: choose a wider range",
                        at->first, at->last, host);
    if (error == EADDRNOTAVAIL)
        return psd_fail(PSD_ECONFIG,
                        "%s is no address of this machine: choose one that `ip address` shows",
                        host);
    if (error == EACCES)
        return psd_fail(PSD_ECONFIG, "tcp://%s:%u is for root only: choose a port above 1023", host,
                        at->first);
    return psd_fail(PSD_ECONFIG, "tcp://%s: %s", host, strerror_r(error, reason, sizeof reason));
}

/* The port of a peer who listens at our address, or will; -1: there is none. */
static int port_of_peer(const char *peer, const union psd_tcp_name *own)
{
    struct psd_tcp_address address;

    if (!peer || psd_tcp_address_read(peer, &address) != PSD_OK)
        return -1;
    return psd_tcp_name_is_same_host(&address.name, own) ? address.first : -1;
}

static int try_each(struct psd_endpoint *endpoint, struct psd_tcp_address *at, int but,
                    bool may_share)
{
    int error = EADDRINUSE;

    for (int port = at->first; port <= at->last && error == EADDRINUSE; port++) {
        if (port != but)
            error = try_port(endpoint, &at->name, (uint16_t)port, may_share);
    }
    return error;
}

/* Of several, one that nobody has in any way, and not the one where our peer is to be found. */
static psd_status bind_first_free(struct psd_endpoint *endpoint, const char *peer,
                                  struct psd_tcp_address *at)
{
    bool has_choice = at->first < at->last;
    int peers = port_of_peer(peer, &at->name);
    int error = has_choice ? try_each(endpoint, at, peers, false) : EADDRINUSE;

    if (error == EADDRINUSE)
        error = try_each(endpoint, at, peers, true);
    return error ? say_why_not(at, error) : PSD_OK;
}

static psd_status choose_host(const char *towards, struct psd_tcp_address *at)
{
    if (at->name.any.sa_family == AF_UNSPEC && towards)
        return psd_tcp_address_towards(towards, &at->name);
    if (at->name.any.sa_family == AF_UNSPEC)
        return psd_fail(PSD_ECONFIG, "tcp:// needs an address of this machine to listen at, such "
                                     "as tcp://10.0.0.5");
    if (psd_tcp_name_is_any(&at->name))
        return psd_fail(PSD_ECONFIG, "tcp://0.0.0.0 and tcp://[::] are no address that others "
                                     "could connect to: name the one that they reach");
    return PSD_OK;
}

static void welcome(void *arg, unsigned events);

void psd_tcp_listen_again(struct psd_endpoint *endpoint)
{
    unsigned wanted = endpoint->calling < PSD_TCP_CALLERS ? PSD_LOOP_READ : 0;

    (void)psd_loop_watch(endpoint->loop, endpoint->listener, wanted, welcome, endpoint,
                         &endpoint->watch); /* where that fails, the next beat tries again */
}

psd_status psd_tcp_listen_open(struct psd_endpoint *endpoint, const char *address,
                               const char *towards)
{
    union psd_tcp_name name;
    struct psd_tcp_address at;
    socklen_t size = sizeof name;

    PSD_TRY(psd_tcp_address_read(address, &at));
    PSD_TRY(choose_host(towards, &at));
    PSD_TRY(bind_first_free(endpoint, towards, &at));
    if (getsockname(endpoint->listener, &name.any, &size))
        return say_why_not(&at, errno);
    endpoint->port = psd_tcp_name_port(&name);
    psd_tcp_name_write(&name, endpoint->address);
    return psd_loop_watch(endpoint->loop, endpoint->listener, PSD_LOOP_READ, welcome, endpoint,
                          &endpoint->watch);
}

void psd_tcp_listen_close(struct psd_endpoint *endpoint)
{
    struct psd_list *link;

    psd_loop_unwatch(endpoint->loop, &endpoint->watch);
    if (endpoint->listener >= 0)
        close(endpoint->listener);
    while ((link = psd_list_first(&endpoint->callers)))
        psd_tcp_leg_destroy(PSD_CONTAINER_OF(link, struct psd_tcp_leg, link));
}

/* --- who comes ------------------------------------------------------------------------------------
 */

void psd_tcp_listen_refuse(struct psd_tcp_leg *leg)
{
    struct psd_endpoint *endpoint = leg->endpoint;

    psd_tcp_leg_destroy(leg);
    endpoint->calling--;
    psd_tcp_listen_again(endpoint);
}

/* Where there is no memory for a caller, it goes away. */
static void take(struct psd_endpoint *endpoint, int fd, const union psd_tcp_name *peer)
{
    struct psd_tcp_leg *leg = NULL;

    if (psd_tcp_leg_create(endpoint, NULL, &leg) != PSD_OK) {
        endpoint->refusals.starved++;
        close(fd);
        return;
    }
    leg->peer = *peer;
    psd_list_push_back(&endpoint->callers, &leg->link);
    endpoint->calling++;
    psd_tcp_leg_tune(endpoint, fd);
    if (psd_tcp_leg_shake(leg, fd) != PSD_OK || psd_tcp_leg_hurry(leg) != PSD_OK)
        psd_tcp_listen_refuse(leg);
}

/* Out of descriptors or memory: the listener stays ready, so it is left alone until the next beat. */
static void pause_listening(struct psd_endpoint *endpoint)
{
    endpoint->refusals.starved++;
    (void)psd_loop_watch(endpoint->loop, endpoint->listener, 0, welcome, endpoint,
                         &endpoint->watch);
}

static void welcome(void *arg, unsigned events)
{
    struct psd_endpoint *endpoint = arg;
    union psd_tcp_name peer;
    socklen_t size = sizeof peer;

    (void)events;
    int fd = accept4(endpoint->listener, &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        take(endpoint, fd, &peer);
        psd_tcp_listen_again(endpoint);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pause_listening(endpoint);
    }
}

/* --- whose it is ----------------------------------------------------------------------------------
 */

static struct psd_tcp_conn *find(const struct psd_endpoint *endpoint, const unsigned char *id)
{
    PSD_LIST_EACH (link, &endpoint->conns) {
        struct psd_tcp_conn *conn = PSD_CONTAINER_OF(link, struct psd_tcp_conn, link);
        if (!conn->is_dialed && memcmp(conn->id, id, sizeof conn->id) == 0)
            return conn;
    }
    return NULL;
}

/* The caller's connection; a new one for the first of its streams. */
static psd_status find_or_create(struct psd_tcp_leg *leg, const struct psd_opening *opening,
                                 struct psd_tcp_conn **out)
{
    struct psd_tcp_conn *conn = find(leg->endpoint, opening->id);
    char peer[PSD_TCP_TEXT];

    if (!conn) {
        psd_tcp_name_set_port(&leg->peer, opening->port);
        psd_tcp_name_write(&leg->peer, peer);
        return psd_tcp_conn_create(leg->endpoint, opening, peer, out);
    }
    if (conn->count != opening->count || conn->legs[opening->number]) {
        leg->endpoint->refusals.garbled++;
        return psd_fail(PSD_EPEER, "opens a stream as number %u of %u of a connection that has it",
                        opening->number, opening->count);
    }
    *out = conn;
    return PSD_OK;
}

psd_status psd_tcp_listen_opened(struct psd_tcp_leg *leg, const struct psd_opening *opening)
{
    struct psd_endpoint *endpoint = leg->endpoint;
    struct psd_tcp_conn *conn = NULL;

    PSD_TRY(find_or_create(leg, opening, &conn));
    psd_list_remove(&leg->link);
    endpoint->calling--;
    psd_tcp_leg_join(leg, conn, opening->number);
    leg->is_open = true;
    psd_tcp_listen_again(endpoint);
    psd_tcp_conn_meet(conn);
    return PSD_OK;
}
