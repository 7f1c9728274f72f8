/* arrival.c - a frame is there: place, move, arrived, sent.
 *
 *     arrives ---> place ---> [ half there ] ---> move ---> arrived ---> sent
 *                    |                                         |
 *                  later                                       '---> those put off are asked again
 *                    v
 *               [ put off ] <--- what comes behind it, or behind one half there, on the same stream
 */
#include "base/random.h"
#include "net/payload.h"
#include "net/sim/world.h"

#include <assert.h>

enum { HALVES = 2 }; /* the stream of random numbers */

enum outcome { PLACED, LANDED, PUT_OFF, LOST }; /* of asking the receiver */

static bool has_one_before(const struct psd_list *flights, const struct psd_sim_flight *flight)
{
    PSD_LIST_EACH (link, flights) {
        const struct psd_sim_flight *earlier = PSD_CONTAINER_OF(link, struct psd_sim_flight, link);
        if (earlier->pair == flight->pair && earlier->side == flight->side &&
            earlier->stream == flight->stream)
            return true;
    }
    return false;
}

/* Whether an earlier frame of the same stream is put off, or half there. */
static bool is_behind_another(const struct psd_sim_flight *flight)
{
    const struct psd_endpoint *endpoint = flight->member->endpoint;

    return has_one_before(&endpoint->put_off, flight) || has_one_before(&endpoint->halves, flight);
}

/* What a handler's answer comes to; it may have broken the pair. */
static enum outcome judge(struct psd_sim_end *to, psd_status status, enum outcome good)
{
    if (to->pair->is_broken)
        return LOST;
    if (status == PSD_OK)
        return good;
    psd_sim_end_refuse(to);
    return LOST;
}

static enum outcome ask(struct psd_sim_end *to, const struct psd_frame *frame,
                        struct psd_place *place)
{
    const struct psd_endpoint *endpoint = to->endpoint;

    *place = (struct psd_place){.later = false};
    psd_status status = endpoint->handler->place(endpoint->user, &to->conn, frame->header,
                                                 psd_payload_bytes(frame), place);
    return judge(to, status, place->later ? PUT_OFF : PLACED);
}

static enum outcome fill(struct psd_sim_end *to, const struct psd_frame *frame,
                         const struct psd_place *place)
{
    const struct psd_endpoint *endpoint = to->endpoint;
    psd_status status = psd_payload_move(frame, place);

    if (status == PSD_OK)
        status = endpoint->handler->arrived(endpoint->user, &to->conn, frame->header);
    return judge(to, status, LANDED);
}

static void count_received(struct psd_sim_member *member, size_t bytes)
{
    member->traffic.received_bytes += bytes;
    member->traffic.received_frames++;
}

/* It is in its place, or lost. Whether it has arrived. */
static bool settle(struct psd_sim *sim, struct psd_sim_flight *flight, enum outcome outcome)
{
    struct psd_sim_end *to = &flight->pair->ends[flight->side], *from = psd_sim_peer(to);

    if (outcome == LANDED) {
        count_received(to->member, flight->bytes);
        from->endpoint->handler->sent(from->endpoint->user, &from->conn, flight->frame);
    }
    psd_sim_flight_give(sim, flight);
    return outcome == LANDED;
}

static void come_whole(void *arg);

/* Lets the receiver have it, now or in a while, or puts it off. Whether it has arrived. */
static bool take_in(struct psd_sim *sim, struct psd_sim_flight *flight)
{
    struct psd_sim_end *to = &flight->pair->ends[flight->side];
    struct psd_place place;
    enum outcome outcome = LOST;

    assert(to->pair->is_broken || to->endpoint); /* who was asked has accepted before, or refused */
    if (!to->pair->is_broken)
        outcome = is_behind_another(flight) ? PUT_OFF : ask(to, flight->frame, &place);
    if (outcome == PUT_OFF) {
        psd_list_push_back(&to->endpoint->put_off, &flight->link);
        return false;
    }
    if (outcome == PLACED && sim->options.half_ns > 0) {
        uint64_t drawn =
            psd_random_below(sim->options.seed, HALVES, sim->drawn++, sim->options.half_ns + 1);
        flight->detour->place = place;
        psd_list_push_back(&to->endpoint->halves, &flight->link);
        psd_sim_set(sim, sim->now_ns + drawn, come_whole, flight, &flight->detour->timer);
        return false;
    }
    if (outcome == PLACED)
        outcome = fill(to, flight->frame, &place);
    return settle(sim, flight, outcome);
}

/* Asks again for all that was put off, in its order, until nothing more arrives. The handlers may
 * close the endpoint, and then each flight finds its pair broken. */
static void ask_again(struct psd_sim_member *member)
{
    bool has_arrived = true;

    while (has_arrived && member->endpoint && !psd_list_is_empty(&member->endpoint->put_off)) {
        struct psd_list asked, *first;
        struct psd_sim_flight *flight;

        has_arrived = false;
        psd_list_init(&asked);
        while ((first = psd_list_first(&member->endpoint->put_off))) {
            psd_list_remove(first);
            psd_list_push_back(&asked, first);
        }
        while ((flight = psd_sim_flight_first(&asked)))
            has_arrived |= take_in(member->sim, flight);
    }
}

void psd_sim_arrival_take(struct psd_sim_member *member, struct psd_sim_flight *flight)
{
    if (take_in(member->sim, flight))
        ask_again(member);
}

/* The rest of a payload that was half there comes. */
static void come_whole(void *arg)
{
    struct psd_sim_flight *flight = arg;
    struct psd_sim_member *member = flight->member;
    struct psd_sim_end *to = &flight->pair->ends[flight->side];
    enum outcome outcome = LOST;

    psd_list_remove(&flight->link);
    if (!to->pair->is_broken)
        outcome = fill(to, flight->frame, &flight->detour->place);
    if (settle(member->sim, flight, outcome))
        ask_again(member);
}
