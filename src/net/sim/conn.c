/* conn.c - endpoints and connections of the simulation.
 *
 *     connect --- latency ---> somebody listens: accepted there, connected here, at that moment
 *                              nobody does: closed here
 *
 *     drop, close, cut, kill: nothing more arrives from this moment on;
 *                              --- latency ---> closed, for those who still have the connection
 *
 * A handler may close what it likes, its own endpoint included: whoever calls one keeps the pair,
 * and looks again whose its ends are. */
#include "base/alloc.h"
#include "net/sim/world.h"

#include <assert.h>
#include <stdio.h>

static psd_status open_endpoint(const struct psd_endpoint_options *options,
                                struct psd_endpoint **out)
{
    struct psd_sim_member *member = NULL;

    if (!options->world)
        return psd_fail(PSD_EINVAL, "an endpoint of the simulation needs a simulation");
    if (!options->address || !*options->address)
        return psd_fail(PSD_ECONFIG, "an endpoint needs an address, such as sim://a");
    PSD_TRY(psd_sim_member_get(options->world, options->address, &member));
    if (member->endpoint)
        return psd_fail(PSD_ECONFIG, "sim://%s is taken", member->address);
    struct psd_endpoint *endpoint = psd_alloc_zero(1, sizeof *endpoint);
    if (!endpoint)
        return PSD_ENOMEM;
    endpoint->member = member;
    endpoint->handler = options->handler;
    endpoint->user = options->user;
    psd_list_init(&endpoint->ends);
    psd_list_init(&endpoint->put_off);
    psd_list_init(&endpoint->halves);
    *out = member->endpoint = endpoint;
    return PSD_OK;
}

static struct psd_sim_pair *new_pair(struct psd_sim_member *from, struct psd_sim_member *to)
{
    struct psd_sim *sim = from->sim;
    size_t moments = 2 * sizeof(uint64_t) * sim->options.streams;
    struct psd_sim_pair *pair = psd_alloc_aligned_zero(PSD_SIM_CACHE_LINE, sizeof *pair + moments);

    if (!pair)
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        pair->ends[i].conn.transport = &psd_transport_sim;
        pair->ends[i].pair = pair;
        pair->ends[i].member = i == 0 ? from : to;
        pair->ends[i].peer = i == 0 ? to : from;
        psd_list_init(&pair->ends[i].link);
    }
    psd_list_push_back(&sim->pairs, &pair->link);
    return pair;
}

void psd_sim_pair_release(struct psd_sim_pair *pair)
{
    assert(pair->refs > 0);
    if (--pair->refs > 0)
        return;
    for (size_t i = 0; i < 2; i++)
        psd_sim_cancel(pair->ends[i].member->sim, &pair->ends[i].timer);
    psd_list_remove(&pair->link);
    psd_alloc_free(pair);
}

/* The end becomes the endpoint's, or nobody's any more. */
static void join(struct psd_sim_end *end, struct psd_endpoint *endpoint)
{
    end->endpoint = endpoint;
    end->pair->refs++;
    psd_list_push_back(&endpoint->ends, &end->link);
}

static void leave(struct psd_sim_end *end)
{
    end->endpoint = NULL;
    psd_list_remove(&end->link);
    psd_sim_cancel(end->member->sim, &end->timer);
}

static void hear_closed(void *arg)
{
    struct psd_sim_end *end = arg;
    const struct psd_endpoint *endpoint = end->endpoint;
    char why[PSD_REASON_SIZE];

    if (endpoint->is_dead) /* since the news set out; the end is its endpoint's until that closes */
        return;
    leave(end);
    psd_reason_say(end->pair->reason, psd_transport_sim.scheme, end->peer->address, why,
                   sizeof why);
    endpoint->handler->closed(endpoint->user, &end->conn, why);
    psd_sim_pair_release(end->pair);
}

void psd_sim_pair_break(struct psd_sim_pair *pair, enum psd_reason reason, uint64_t when_ns)
{
    if (pair->is_broken)
        return;
    pair->is_broken = true;
    pair->reason = reason;
    for (size_t i = 0; i < 2; i++) {
        struct psd_sim_end *end = &pair->ends[i];
        psd_sim_cancel(end->member->sim, &end->timer);
        if (end->endpoint && !end->endpoint->is_dead)
            psd_sim_set(end->member->sim, when_ns, hear_closed, end, &end->timer);
    }
}

static void break_soon(struct psd_sim_pair *pair)
{
    const struct psd_sim *sim = pair->ends[0].member->sim;

    psd_sim_pair_break(pair, PSD_REASON_CLOSED, sim->now_ns + sim->options.latency_ns);
}

void psd_sim_end_refuse(struct psd_sim_end *end)
{
    const struct psd_endpoint *endpoint = end->endpoint;
    char why[4 * PSD_REASON_SIZE]; /* the handler may fail again, and look at this afterwards */

    snprintf(why, sizeof why, "%s", psd_error());
    leave(end);
    break_soon(end->pair);
    endpoint->handler->closed(endpoint->user, &end->conn, why);
    psd_sim_pair_release(end->pair);
}

/* The news that somebody wants to connect has come to where `arg` is to be. */
static void meet(void *arg)
{
    struct psd_sim_end *asked = arg, *asker = psd_sim_peer(asked);
    struct psd_sim_pair *pair = asked->pair;
    struct psd_endpoint *endpoint = asked->member->endpoint;

    if (!endpoint || endpoint->is_dead) {
        psd_sim_pair_break(pair, PSD_REASON_NOBODY, asked->member->sim->now_ns);
        return;
    }
    join(asked, endpoint);
    pair->refs++; /* ours, while handlers run */
    endpoint->handler->accepted(endpoint->user, &asked->conn);
    if (!pair->is_broken)
        asker->endpoint->handler->connected(asker->endpoint->user, &asker->conn);
    psd_sim_pair_release(pair);
}

static psd_status connect_to(struct psd_endpoint *endpoint, const char *address,
                             struct psd_conn **out)
{
    struct psd_sim *sim = endpoint->member->sim;
    struct psd_sim_member *to = NULL;

    PSD_TRY(psd_sim_member_get(sim, address, &to));
    struct psd_sim_pair *pair = new_pair(endpoint->member, to);
    if (!pair)
        return PSD_ENOMEM;
    join(&pair->ends[0], endpoint);
    pair->is_broken = endpoint->is_dead; /* and then it hears nothing */
    psd_status status = PSD_OK;
    if (!endpoint->is_dead)
        status = psd_sim_at(sim, sim->now_ns + sim->options.latency_ns, meet, &pair->ends[1],
                            &pair->ends[1].timer);
    if (status != PSD_OK) {
        leave(&pair->ends[0]);
        psd_sim_pair_release(pair);
        return status;
    }
    *out = &pair->ends[0].conn;
    return PSD_OK;
}

static void drop(struct psd_conn *conn)
{
    struct psd_sim_end *end = (struct psd_sim_end *)conn;

    if (!end->endpoint) /* it is being closed: this is its handler */
        return;
    leave(end);
    break_soon(end->pair);
    psd_sim_pair_release(end->pair);
}

static void close_endpoint(struct psd_endpoint *endpoint)
{
    struct psd_sim_flight *flight;
    struct psd_list *link;

    if (!endpoint)
        return;
    endpoint->member->endpoint = NULL;
    while ((link = psd_list_first(&endpoint->ends)))
        drop(&PSD_CONTAINER_OF(link, struct psd_sim_end, link)->conn);
    while ((flight = psd_sim_flight_first(&endpoint->put_off)))
        psd_sim_flight_give(endpoint->member->sim, flight);
    while ((flight = psd_sim_flight_first(&endpoint->halves))) {
        psd_sim_cancel(endpoint->member->sim, &flight->detour->timer);
        psd_sim_flight_give(endpoint->member->sim, flight);
    }
    psd_alloc_free(endpoint);
}

static const char *address(const struct psd_endpoint *endpoint)
{
    return endpoint->member->address;
}

const struct psd_transport psd_transport_sim = {
    .scheme = "sim",
    .open = open_endpoint,
    .address = address,
    .close = close_endpoint,
    .connect = connect_to,
    .send = psd_sim_flight_send,
    .drop = drop,
};
