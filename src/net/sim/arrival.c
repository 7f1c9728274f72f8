/* arrival.c - a frame is there: place, move, arrived, sent.
 *
 *     arrives ---> place ---> move ---> arrived ---> sent
 *                    |                     |
 *                  later                   '---> those put off are asked for again
 *                    v
 *               [ put off ] <--- what comes behind it on the same stream
 */
#include "net/payload.h"
#include "net/sim/world.h"

#include <assert.h>

enum outcome { LANDED, PUT_OFF, LOST }; /* of asking the receiver */

/* Whether an earlier frame of the same stream is put off. */
static bool is_behind_another(const struct psd_sim_flight *flight)
{
    PSD_LIST_EACH (link, &flight->member->endpoint->put_off) {
        const struct psd_sim_flight *earlier = PSD_CONTAINER_OF(link, struct psd_sim_flight, link);
        if (earlier->pair == flight->pair && earlier->side == flight->side &&
            earlier->stream == flight->stream)
            return true;
    }
    return false;
}

/* Asks for a place, fills it and says so; a handler may have broken the pair each time. */
static enum outcome offer(struct psd_sim_end *to, struct psd_frame *frame)
{
    const struct psd_endpoint *endpoint = to->endpoint;
    const struct psd_sim_pair *pair = to->pair;
    struct psd_place place = {.later = false};

    psd_status status = endpoint->handler->place(endpoint->user, &to->conn, frame->header,
                                                 psd_payload_bytes(frame), &place);
    if (pair->is_broken)
        return LOST;
    if (status == PSD_OK && place.later)
        return PUT_OFF;
    if (status == PSD_OK)
        status = psd_payload_move(frame, &place);
    if (status == PSD_OK)
        status = endpoint->handler->arrived(endpoint->user, &to->conn, frame->header);
    if (pair->is_broken)
        return LOST;
    if (status == PSD_OK)
        return LANDED;
    psd_sim_end_refuse(to);
    return LOST;
}

static void count_received(struct psd_sim_member *member, size_t bytes)
{
    member->traffic.received_bytes += bytes;
    member->traffic.received_frames++;
}

/* Lets the receiver have it, or puts it off. Whether it has arrived. */
static bool take_in(struct psd_sim *sim, struct psd_sim_flight *flight)
{
    struct psd_sim_end *to = &flight->pair->ends[flight->side], *from = psd_sim_peer(to);
    struct psd_frame *frame = flight->frame;
    enum outcome outcome = LOST;

    assert(to->pair->is_broken || to->endpoint); /* who was asked has accepted before, or refused */
    if (!to->pair->is_broken)
        outcome = is_behind_another(flight) ? PUT_OFF : offer(to, frame);
    if (outcome == PUT_OFF) {
        psd_list_push_back(&to->endpoint->put_off, &flight->link);
        return false;
    }
    if (outcome == LANDED) {
        count_received(to->member, flight->bytes);
        from->endpoint->handler->sent(from->endpoint->user, &from->conn, frame);
    }
    psd_sim_flight_give(sim, flight);
    return outcome == LANDED;
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
