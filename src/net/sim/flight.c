/* flight.c - a frame on its way.
 *
 *     send              first byte there             last byte there
 *      | uplink busy      |  downlink busy             |
 *      |-----------|==up==|...|======== down =========>|  place, move, arrived, sent
 *                  start -- latency + delay -->
 *
 * Two events a frame: when its first byte is with the receiver it gets a slot of that link, and when
 * its last byte has passed both links it arrives. Frames of a sender come to the first moment in the
 * order of sending, unless delays are drawn, and those to a receiver nearly so to the second; so they
 * wait in queues, and the clock's heap holds only the first of each. What becomes of a frame that
 * has arrived is in arrival.c. */
#include "base/alloc.h"
#include "base/random.h"
#include "net/payload.h"
#include "net/sim/world.h"

#include <math.h>

enum { PIECE = 256 };  /* flights that the store grows by */
enum { DELAYS = 1 };   /* the stream of random numbers */
#define LONGEST 0x1p60 /* ns of delay: a clock ends later */

struct psd_sim_flights {
    struct psd_sim_flights *next; /* owned */
    max_align_t items[];          /* PIECE flights, each with its detour if there are any */
};

static bool has_delays(const struct psd_sim *sim)
{
    return sim->options.delay_ns[1] > 0;
}

static bool has_detours(const struct psd_sim *sim)
{
    return has_delays(sim) || sim->options.half_ns > 0;
}

/* --- the store -----------------------------------------------------------------------------------
 */

struct psd_sim_flight *psd_sim_flight_first(struct psd_list *flights)
{
    struct psd_list *first = psd_list_first(flights);

    if (!first)
        return NULL;
    psd_list_remove(first);
    return PSD_CONTAINER_OF(first, struct psd_sim_flight, link);
}

static psd_status enlarge(struct psd_sim *sim)
{
    size_t size =
        sizeof(struct psd_sim_flight) + (has_detours(sim) ? sizeof(struct psd_sim_detour) : 0);
    struct psd_sim_flights *piece = psd_alloc_zero(1, sizeof *piece + PIECE * size);

    if (!piece)
        return PSD_ENOMEM;
    piece->next = sim->flights;
    sim->flights = piece;
    for (size_t i = 0; i < PIECE; i++) {
        struct psd_sim_flight *flight = (void *)((char *)piece->items + i * size);
        psd_list_push_back(&sim->free, &flight->link);
    }
    return PSD_OK;
}

static struct psd_sim_flight *take(struct psd_sim *sim)
{
    if (psd_list_is_empty(&sim->free))
        psd_sim_fail(sim, enlarge(sim));
    return psd_sim_flight_first(&sim->free);
}

void psd_sim_flight_give(struct psd_sim *sim, struct psd_sim_flight *flight)
{
    psd_list_push_front(&sim->free, &flight->link);
    psd_sim_pair_release(flight->pair);
}

void psd_sim_flight_free_all(struct psd_sim *sim)
{
    while (sim->flights) {
        struct psd_sim_flights *next = sim->flights->next;
        psd_alloc_free(sim->flights);
        sim->flights = next;
    }
}

/* --- the two moments -----------------------------------------------------------------------------
 */

/* Lets the cache have what the flight needs at its next moment, while others have theirs. */
static void prefetch(const struct psd_sim_flight *flight)
{
    const char *header = (const char *)flight->frame->header;

    __builtin_prefetch(flight->pair);
    __builtin_prefetch(&flight->pair->ends[1]);
    __builtin_prefetch(header);
    __builtin_prefetch(header + PSD_SIM_CACHE_LINE);
}

/* Takes the first flight, and sets the timer to the next. */
static struct psd_sim_flight *advance(struct psd_sim *sim, struct psd_sim_queue *queue,
                                      void (*fn)(void *arg), void *arg)
{
    struct psd_sim_flight *flight = psd_sim_flight_first(&queue->flights);
    struct psd_list *link = psd_list_first(&queue->flights);

    if (link) {
        const struct psd_sim_flight *next = PSD_CONTAINER_OF(link, struct psd_sim_flight, link);
        prefetch(next);
        psd_sim_set(sim, next->when_ns, fn, arg, &queue->timer);
    }
    return flight;
}

/* Puts a flight where it belongs in the order of moments, behind its equals; nearly always that is
 * the end. */
static void enqueue(struct psd_sim *sim, struct psd_sim_queue *queue, struct psd_sim_flight *flight,
                    void (*fn)(void *arg), void *arg)
{
    struct psd_list *before = queue->flights.prev;

    while (before != &queue->flights &&
           PSD_CONTAINER_OF(before, struct psd_sim_flight, link)->when_ns > flight->when_ns)
        before = before->prev;
    psd_list_push_front(before, &flight->link);
    if (before == &queue->flights)
        psd_sim_set(sim, flight->when_ns, fn, arg, &queue->timer);
}

/* The last byte of a frame to this member is here. */
static void arrive(void *arg)
{
    struct psd_sim_member *member = arg;
    struct psd_sim_flight *flight = advance(member->sim, &member->coming, arrive, member);

    psd_sim_arrival_take(member, flight);
}

/* The first byte of a frame is with its receiver. */
static void land(struct psd_sim *sim, struct psd_sim_flight *flight)
{
    if (flight->pair->is_broken) {
        psd_sim_flight_give(sim, flight);
        return;
    }
    struct psd_sim_slot slot = psd_sim_link_take(&flight->member->down, sim->now_ns, flight->bytes);
    flight->when_ns = slot.end_ns > flight->least_ns ? slot.end_ns : flight->least_ns;
    enqueue(sim, &flight->member->coming, flight, arrive, flight->member);
}

static void land_next(void *arg)
{
    struct psd_sim_member *member = arg;

    land(member->sim, advance(member->sim, &member->leaving, land_next, member));
}

static void land_alone(void *arg)
{
    struct psd_sim_flight *flight = arg;

    land(flight->member->sim, flight);
}

/* --- sending -------------------------------------------------------------------------------------
 */

/* What is added to the frame's way; of two slow members the slower one counts. */
static uint64_t draw_delay(struct psd_sim *sim, const struct psd_sim_member *from,
                           const struct psd_sim_member *to)
{
    uint64_t least = sim->options.delay_ns[0], most = sim->options.delay_ns[1], delay = least;
    double times = from->times > to->times ? from->times : to->times;

    if (most > least)
        delay += psd_random_below(sim->options.seed, DELAYS, sim->drawn++, most - least + 1);
    return (uint64_t)fmin((double)delay * times, LONGEST);
}

/* Delays the flight's moments, without overtaking the frame of the same stream that was sent before. */
static void hold_back(struct psd_sim *sim, struct psd_sim_end *from, struct psd_sim_flight *flight)
{
    size_t row = (size_t)flight->side * sim->options.streams;
    uint64_t *last = &flight->pair->last_ns[row + flight->stream];
    uint64_t length = flight->least_ns - flight->when_ns;

    flight->when_ns += draw_delay(sim, from->member, flight->member);
    if (flight->when_ns < *last)
        flight->when_ns = *last;
    *last = flight->least_ns = flight->when_ns + length;
}

/* Gives the flight a slot of the sender's link, and sends it off. */
static void set_out(struct psd_sim *sim, struct psd_sim_end *from, struct psd_sim_flight *flight)
{
    struct psd_sim_member *member = from->member;
    struct psd_sim_slot slot = psd_sim_link_take(&member->up, sim->now_ns, flight->bytes);

    member->traffic.sent_bytes += flight->bytes;
    member->traffic.sent_frames++;
    flight->when_ns = slot.start_ns + sim->options.latency_ns;
    flight->least_ns = slot.end_ns + sim->options.latency_ns;
    if (has_delays(sim)) {
        hold_back(sim, from, flight);
        psd_sim_set(sim, flight->when_ns, land_alone, flight, &flight->detour->timer);
    } else {
        enqueue(sim, &member->leaving, flight, land_next, member);
    }
}

void psd_sim_flight_send(struct psd_conn *conn, struct psd_frame *frame)
{
    struct psd_sim_end *from = (struct psd_sim_end *)conn;
    struct psd_sim *sim = from->member->sim;
    struct psd_sim_flight *flight = from->pair->is_broken ? NULL : take(sim);

    if (!flight) /* its user hears that soon, or memory has run out */
        return;
    from->pair->refs++;
    flight->pair = from->pair;
    flight->member = from->peer;
    flight->frame = frame;
    flight->bytes = psd_payload_bytes(frame) + sim->options.overhead;
    flight->side = from == &from->pair->ends[0];
    flight->stream = from->next_stream;
    from->next_stream = (from->next_stream + 1) % sim->options.streams;
    set_out(sim, from, flight);
}
