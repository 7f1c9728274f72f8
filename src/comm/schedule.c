/* schedule.c - a line for each class that has credit, and the store of sends. */
#include "comm/schedule.h"
#include "base/alloc.h"
#include "comm/flight.h"
#include "comm/line.h"

#include <assert.h>

_Static_assert((int)PSD_MESSAGE_SIZE == (int)PSD_FRAME_HEADER, "a message's header is a frame's");

enum { LINES = PSD_SEND_CONTROL, FIRST_CHUNK = 16, LARGEST_CHUNK = 512 };

/* Sends that were made together; some are in the store, some are out. */
struct chunk {
    struct chunk *next; /* owned */
    size_t count;
    struct psd_send sends[];
};

struct psd_schedule {
    unsigned ranks, rank;
    void (*emit)(void *arg, struct psd_send *send);
    void *arg; /* borrowed */
    struct psd_line lines[LINES];
    struct psd_flight flights[LINES];
    size_t pending;         /* sends */
    uint32_t number;        /* of the send queued next */
    struct chunk *chunks;   /* owned; the latest first */
    struct psd_send *store; /* borrowed from the chunks, linked by `next` */
};

static psd_status init_lines(struct psd_schedule *schedule, size_t credit)
{
    psd_status status = PSD_OK;

    for (size_t i = 0; i < LINES && status == PSD_OK; i++) {
        schedule->flights[i] = psd_flight_of(schedule->ranks, credit);
        status = psd_line_init(&schedule->lines[i], schedule->ranks, schedule->rank);
    }
    return status;
}

psd_status psd_schedule_create(unsigned ranks, unsigned rank, size_t credit,
                               void (*emit)(void *arg, struct psd_send *send), void *arg,
                               struct psd_schedule **out)
{
    struct psd_schedule *schedule = psd_alloc_zero(1, sizeof *schedule);

    if (!schedule)
        return PSD_ENOMEM;
    schedule->ranks = ranks;
    schedule->rank = rank;
    schedule->emit = emit;
    schedule->arg = arg;
    psd_status status = init_lines(schedule, credit);
    if (status == PSD_OK)
        *out = schedule;
    else
        psd_schedule_destroy(schedule);
    return status;
}

static void free_chunk(struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++)
        psd_alloc_free(chunk->sends[i].owned);
    psd_alloc_free(chunk);
}

void psd_schedule_destroy(struct psd_schedule *schedule)
{
    if (!schedule)
        return;
    for (struct chunk *chunk = schedule->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free_chunk(chunk);
    }
    for (size_t i = 0; i < LINES; i++)
        psd_line_fini(&schedule->lines[i]);
    psd_alloc_free(schedule);
}

/* Puts `count` new sends into the store. */
static psd_status add_chunk(struct psd_schedule *schedule, size_t count)
{
    struct chunk *chunk = psd_alloc_zero(1, sizeof *chunk + count * sizeof *chunk->sends);

    if (!chunk)
        return PSD_ENOMEM;
    chunk->count = count;
    chunk->next = schedule->chunks;
    schedule->chunks = chunk;
    for (size_t i = count; i-- > 0;) {
        chunk->sends[i].next = schedule->store;
        schedule->store = &chunk->sends[i];
    }
    return PSD_OK;
}

/* Fills the empty store, unless memory runs out. Each chunk is twice as large as the one before, up to
 * a size. */
static void grow(struct psd_schedule *schedule)
{
    size_t count = schedule->chunks ? 2 * schedule->chunks->count : FIRST_CHUNK;

    (void)add_chunk(schedule, count < LARGEST_CHUNK ? count : LARGEST_CHUNK);
}

psd_status psd_schedule_reserve(struct psd_schedule *schedule, size_t count)
{
    size_t there = 0;

    for (const struct chunk *chunk = schedule->chunks; chunk; chunk = chunk->next)
        there += chunk->count;
    return count > there ? add_chunk(schedule, count - there) : PSD_OK;
}

struct psd_send *psd_schedule_take(struct psd_schedule *schedule)
{
    if (!schedule->store)
        grow(schedule);
    struct psd_send *send = schedule->store;
    if (!send)
        return NULL;
    schedule->store = send->next;
    *send = (struct psd_send){0};
    return send;
}

static void put_back(struct psd_schedule *schedule, struct psd_send *send)
{
    psd_alloc_free(send->owned);
    send->owned = NULL;
    send->in_flight = false;
    send->next = schedule->store;
    schedule->store = send;
    schedule->pending--;
}

static void emit(struct psd_schedule *schedule, struct psd_send *send)
{
    psd_message_encode(&send->message, send->frame.header);
    send->in_flight = true;
    schedule->emit(schedule->arg, send);
}

/* Emits what may leave. The first in line is never passed by a smaller one, which would let it wait
 * for ever. */
static void flush(struct psd_schedule *schedule, enum psd_send_class class)
{
    struct psd_line *line = &schedule->lines[class];
    struct psd_flight *flight = &schedule->flights[class];

    for (struct psd_send *send; (send = psd_line_first(line));) {
        if (!psd_flight_admits(flight, send))
            break;
        psd_line_take(line);
        psd_flight_add(flight, send);
        emit(schedule, send);
    }
}

void psd_schedule_queue(struct psd_schedule *schedule, struct psd_send *send)
{
    assert(send->to < schedule->ranks && send->to != schedule->rank);
    assert(send->message.length == send->frame.payload[0].bytes + send->frame.payload[1].bytes);
    schedule->pending++;
    if (send->class == PSD_SEND_CONTROL) {
        emit(schedule, send);
        return;
    }
    send->number = schedule->number++;
    psd_line_put(&schedule->lines[send->class], send); /* which needs no memory */
    flush(schedule, send->class);
}

static void land(struct psd_schedule *schedule, struct psd_send *send)
{
    if (send->class != PSD_SEND_CONTROL) {
        psd_flight_land(&schedule->flights[send->class], send);
        psd_line_land(&schedule->lines[send->class], send);
    }
    put_back(schedule, send);
}

void psd_schedule_sent(struct psd_schedule *schedule, struct psd_send *send)
{
    enum psd_send_class class = send->class;

    land(schedule, send);
    if (class != PSD_SEND_CONTROL)
        flush(schedule, class);
}

size_t psd_schedule_pending(const struct psd_schedule *schedule)
{
    return schedule->pending;
}

void psd_schedule_clear(struct psd_schedule *schedule)
{
    for (size_t i = 0; i < LINES; i++) {
        for (unsigned rank = 0; rank < schedule->ranks; rank++) {
            for (struct psd_send *send; (send = psd_line_remove(&schedule->lines[i], rank));)
                put_back(schedule, send);
        }
    }
}

static void drop(struct psd_schedule *schedule, struct psd_send *send,
                 psd_schedule_dropped *dropped)
{
    struct psd_message message = send->message;
    unsigned rank = send->to;

    if (send->in_flight)
        land(schedule, send);
    else
        put_back(schedule, send);
    dropped(schedule->arg, &message, rank);
}

void psd_schedule_forget(struct psd_schedule *schedule, unsigned rank,
                         psd_schedule_dropped *dropped)
{
    for (size_t i = 0; i < LINES; i++) {
        for (struct psd_send *send; (send = psd_line_remove(&schedule->lines[i], rank));)
            drop(schedule, send, dropped);
    }
    for (struct chunk *chunk = schedule->chunks; chunk; chunk = chunk->next) {
        for (size_t i = 0; i < chunk->count; i++) {
            if (chunk->sends[i].in_flight && chunk->sends[i].to == rank)
                drop(schedule, &chunk->sends[i], dropped);
        }
    }
    for (size_t i = 0; i < LINES; i++)
        flush(schedule, (enum psd_send_class)i);
}
