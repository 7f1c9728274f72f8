/* line.c - the heap of destinations; it begins at 3, so that fours begin at multiples of four. */
#include "comm/line.h"
#include "base/alloc.h"
#include "comm/layout.h"
#include "comm/send_heap.h"

#include <assert.h>

enum { ROOT = 3, BELOW = 4, CACHE_LINE = 64, NUMBER_BITS = 20, FLIGHT_BIT = 63 };

psd_status psd_line_init(struct psd_line *line, unsigned ranks, unsigned rank)
{
    assert(rank < ranks && ranks <= 1u << NUMBER_BITS);
    *line = (struct psd_line){.ranks = ranks, .rank = rank};
    line->queues = psd_alloc_zero(ranks, sizeof *line->queues);
    line->heap = psd_alloc_aligned(CACHE_LINE, ((size_t)ranks + ROOT) * sizeof *line->heap);
    return line->queues && line->heap ? PSD_OK : PSD_ENOMEM;
}

void psd_line_fini(struct psd_line *line)
{
    psd_alloc_free(line->heap);
    psd_alloc_free(line->queues);
    *line = (struct psd_line){0};
}

/* The number of a rank, counted from the one after us. */
static uint32_t number_of(const struct psd_line *line, unsigned to)
{
    return to > line->rank ? to - line->rank - 1 : to + line->ranks - line->rank - 1;
}

static struct psd_line_queue *queue_of(const struct psd_line *line,
                                       const struct psd_line_entry *entry)
{
    return &line->queues[entry->turn & ((1u << NUMBER_BITS) - 1)];
}

static bool is_before(const struct psd_line_entry *a, const struct psd_line_entry *b)
{
    return a->urgency != b->urgency ? a->urgency < b->urgency : a->turn < b->turn;
}

static uint32_t above(uint32_t place)
{
    return place / BELOW + 2;
}

/* The next of those below `place`; 0: there are none. */
static uint32_t next_below(const struct psd_line *line, uint32_t place)
{
    uint32_t first = BELOW * (place - 2), end = ROOT + line->waiting, next = first;

    if (first >= end)
        return 0;
    for (uint32_t i = first + 1; i < first + BELOW && i < end; i++)
        next = is_before(&line->heap[i], &line->heap[next]) ? i : next;
    return next;
}

static void settle(struct psd_line *line, uint32_t place, struct psd_line_entry entry)
{
    line->heap[place] = entry;
    queue_of(line, &entry)->place = place;
}

/* Moves the hole at `place` up or down until `entry` may stand in it. */
static void fill_hole(struct psd_line *line, uint32_t place, struct psd_line_entry entry)
{
    while (place > ROOT && is_before(&entry, &line->heap[above(place)])) {
        settle(line, place, line->heap[above(place)]);
        place = above(place);
    }
    for (uint32_t next; (next = next_below(line, place)); place = next) {
        if (!is_before(&line->heap[next], &entry))
            break;
        settle(line, place, line->heap[next]);
    }
    settle(line, place, entry);
}

/* Puts a destination where it belongs, now that something waits for it whose urgency is this. */
static void enter(struct psd_line *line, uint32_t number, uint64_t urgency)
{
    const struct psd_line_queue *queue = &line->queues[number];
    uint32_t hole = queue->place ? queue->place : ROOT + line->waiting++;

    fill_hole(line, hole,
              (struct psd_line_entry){(uint64_t)(queue->in_flight > 0) << FLIGHT_BIT | urgency,
                                      queue->served << NUMBER_BITS | number});
}

/* Nothing waits for it any more: the last of the heap takes its place. */
static void leave(struct psd_line *line, struct psd_line_queue *queue)
{
    uint32_t hole = queue->place, last = ROOT + --line->waiting;

    queue->place = 0;
    if (hole != last)
        fill_hole(line, hole, line->heap[last]);
}

static void drop_first(struct psd_line *line, uint32_t number)
{
    struct psd_line_queue *queue = &line->queues[number];

    queue->first = psd_send_heap_drop(queue->first);
    if (queue->first)
        enter(line, number, queue->first->urgency);
    else
        leave(line, queue);
}

void psd_line_put(struct psd_line *line, struct psd_send *send)
{
    uint32_t number = number_of(line, send->to);
    struct psd_line_queue *queue = &line->queues[number];

    queue->first = psd_send_heap_put(queue->first, send);
    if (queue->first == send) /* else the first is as it was */
        enter(line, number, send->urgency);
}

struct psd_send *psd_line_first(const struct psd_line *line)
{
    return line->waiting ? queue_of(line, &line->heap[ROOT])->first : NULL;
}

/* Whether the send, with the small ones before it, is a turn. */
static bool is_service(struct psd_line_queue *queue)
{
    uint64_t bytes = queue->small + queue->first->message.length;
    bool enough = bytes >= PSD_LAYOUT_LEAST;

    queue->small = enough ? 0 : (uint32_t)bytes;
    return enough;
}

void psd_line_take(struct psd_line *line)
{
    struct psd_line_queue *queue = queue_of(line, &line->heap[ROOT]);

    queue->in_flight++;
    if (is_service(queue))
        queue->served = ++line->served;
    drop_first(line, (uint32_t)(queue - line->queues));
}

void psd_line_land(struct psd_line *line, const struct psd_send *send)
{
    uint32_t number = number_of(line, send->to);
    struct psd_line_queue *queue = &line->queues[number];

    if (--queue->in_flight == 0 && queue->place)
        enter(line, number, line->heap[queue->place].urgency & ~(UINT64_C(1) << FLIGHT_BIT));
}

struct psd_send *psd_line_remove(struct psd_line *line, unsigned to)
{
    uint32_t number = number_of(line, to);
    struct psd_send *send = line->queues[number].first;

    if (send)
        drop_first(line, number);
    return send;
}
