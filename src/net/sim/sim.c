/* sim.c - the clock, the members by address, and what may befall them. */
#include "net/sim/sim.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "net/sim/world.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static psd_status check(const struct psd_sim_options *options)
{
    if (!isfinite(options->bandwidth) || options->bandwidth < 0)
        return psd_fail(PSD_EINVAL, "a link of %g bytes a second cannot be simulated",
                        options->bandwidth);
    if (options->delay_ns[0] > options->delay_ns[1])
        return psd_fail(PSD_EINVAL, "delays from %llu to %llu ns: the least is the first",
                        (unsigned long long)options->delay_ns[0],
                        (unsigned long long)options->delay_ns[1]);
    return PSD_OK;
}

psd_status psd_sim_create(const struct psd_sim_options *options, struct psd_sim **out)
{
    PSD_TRY(check(options));
    struct psd_sim *sim = psd_alloc_zero(1, sizeof *sim);
    if (!sim)
        return PSD_ENOMEM;
    sim->options = *options;
    if (sim->options.streams == 0)
        sim->options.streams = 1;
    psd_timers_init(&sim->timers);
    psd_map_init(&sim->names);
    psd_list_init(&sim->pairs);
    psd_list_init(&sim->free);
    *out = sim;
    return PSD_OK;
}

void psd_sim_destroy(struct psd_sim *sim)
{
    if (!sim)
        return;
    PSD_LIST_EACH (link, &sim->pairs) /* what the flights that have not landed kept */
        psd_alloc_free(PSD_CONTAINER_OF(link, struct psd_sim_pair, link));
    psd_sim_flight_free_all(sim);
    for (size_t i = 0; i < sim->count; i++) {
        assert(!sim->members[i]->endpoint);
        psd_alloc_free(sim->members[i]);
    }
    psd_alloc_free(sim->members);
    psd_map_fini(&sim->names);
    psd_timers_fini(&sim->timers);
    psd_alloc_free(sim);
}

/* --- the clock -----------------------------------------------------------------------------------
 */

uint64_t psd_sim_now(const struct psd_sim *sim)
{
    return sim->now_ns;
}

psd_status psd_sim_at(struct psd_sim *sim, uint64_t when_ns, void (*fn)(void *arg), void *arg,
                      struct psd_timer *timer)
{
    return psd_timers_set(&sim->timers, when_ns, fn, arg, timer);
}

void psd_sim_cancel(struct psd_sim *sim, struct psd_timer *timer)
{
    psd_timers_cancel(&sim->timers, timer);
}

void psd_sim_fail(struct psd_sim *sim, psd_status status)
{
    if (sim->status == PSD_OK)
        sim->status = status;
}

void psd_sim_set(struct psd_sim *sim, uint64_t when_ns, void (*fn)(void *arg), void *arg,
                 struct psd_timer *timer)
{
    psd_sim_fail(sim, psd_timers_set(&sim->timers, when_ns, fn, arg, timer));
}

bool psd_sim_step(struct psd_sim *sim)
{
    uint64_t next = psd_timers_next(&sim->timers);

    if (next == PSD_CLOCK_NEVER || sim->status != PSD_OK)
        return false;
    struct psd_timer *timer = psd_timers_take_due(&sim->timers, next);
    if (next > sim->now_ns) /* a moment that has passed means now */
        sim->now_ns = next;
    timer->fn(timer->arg);
    return true;
}

psd_status psd_sim_status(const struct psd_sim *sim)
{
    if (sim->status == PSD_OK)
        return PSD_OK;
    return psd_fail(sim->status, "the simulation ended at %llu ns: out of memory",
                    (unsigned long long)sim->now_ns);
}

/* --- members -------------------------------------------------------------------------------------
 */

struct psd_sim_member *psd_sim_member_find(const struct psd_sim *sim, const char *address)
{
    size_t place;

    return psd_map_find(&sim->names, address, &place) ? sim->members[place] : NULL;
}

static psd_status make_room(struct psd_sim *sim)
{
    if (sim->count < sim->room)
        return PSD_OK;
    size_t room = sim->room ? 2 * sim->room : 16;
    struct psd_sim_member **members = psd_alloc_resize(sim->members, room, sizeof(void *));
    if (!members)
        return PSD_ENOMEM;
    sim->members = members;
    sim->room = room;
    return PSD_OK;
}

static struct psd_sim_member *new_member(struct psd_sim *sim, const char *address)
{
    size_t length = strlen(address) + 1;
    struct psd_sim_member *member = psd_alloc_zero(1, sizeof *member + length);

    if (!member)
        return NULL;
    member->sim = sim;
    member->times = 1;
    memcpy(member->address, address, length);
    psd_sim_link_set(&member->up, sim->options.bandwidth);
    psd_sim_link_set(&member->down, sim->options.bandwidth);
    psd_list_init(&member->leaving.flights);
    psd_list_init(&member->coming.flights);
    return member;
}

psd_status psd_sim_member_get(struct psd_sim *sim, const char *address, struct psd_sim_member **out)
{
    struct psd_sim_member *member = psd_sim_member_find(sim, address);

    if (!member) {
        PSD_TRY(make_room(sim));
        member = new_member(sim, address);
        if (!member)
            return PSD_ENOMEM;
        if (psd_map_put(&sim->names, member->address, sim->count) != PSD_OK) {
            psd_alloc_free(member);
            return PSD_ENOMEM;
        }
        sim->members[sim->count++] = member;
    }
    *out = member;
    return PSD_OK;
}

struct psd_sim_traffic psd_sim_traffic_of(const struct psd_sim *sim, const char *address)
{
    const struct psd_sim_member *member = psd_sim_member_find(sim, address);

    return member ? member->traffic : (struct psd_sim_traffic){0};
}

/* --- faults --------------------------------------------------------------------------------------
 */

void psd_sim_slow(struct psd_sim *sim, const char *address, double bandwidth, double times)
{
    struct psd_sim_member *member = psd_sim_member_find(sim, address);

    assert(bandwidth > 0 && times >= 0);
    if (!member)
        return;
    psd_sim_link_set(&member->up, bandwidth * sim->options.bandwidth);
    psd_sim_link_set(&member->down, bandwidth * sim->options.bandwidth);
    member->times = times;
}

/* Breaks the member's connections with `peer`, or all of them. */
static void break_all(struct psd_sim_member *member, const struct psd_sim_member *peer,
                      enum psd_reason reason)
{
    struct psd_sim *sim = member->sim;

    if (!member->endpoint)
        return;
    PSD_LIST_EACH (link, &member->endpoint->ends) {
        struct psd_sim_end *end = PSD_CONTAINER_OF(link, struct psd_sim_end, link);
        if (!peer || end->peer == peer)
            psd_sim_pair_break(end->pair, reason, sim->now_ns + sim->options.latency_ns);
    }
}

void psd_sim_cut(struct psd_sim *sim, const char *a, const char *b)
{
    struct psd_sim_member *one = psd_sim_member_find(sim, a);
    struct psd_sim_member *other = psd_sim_member_find(sim, b);

    if (!one || !other)
        return;
    break_all(one, other, PSD_REASON_CUT);
    break_all(other, one, PSD_REASON_CUT); /* those that one of them has asked for just now */
}

void psd_sim_kill(struct psd_sim *sim, const char *address)
{
    struct psd_sim_member *member = psd_sim_member_find(sim, address);

    if (!member || !member->endpoint)
        return;
    member->endpoint->is_dead = true; /* before it could hear of its own end */
    break_all(member, NULL, PSD_REASON_DEAD);
}
