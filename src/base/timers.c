/* timers.c - the heap: [n] is not after its children [2n] and [2n + 1]. */
#include "base/timers.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

void psd_timers_init(struct psd_timers *timers)
{
    *timers = (struct psd_timers){.heap = NULL};
}

void psd_timers_fini(struct psd_timers *timers)
{
    psd_alloc_free(timers->heap);
    psd_timers_init(timers);
}

static bool is_before(const struct psd_timers_entry *a, const struct psd_timers_entry *b)
{
    return a->when_ns != b->when_ns ? a->when_ns < b->when_ns : a->order < b->order;
}

static void settle(struct psd_timers *timers, size_t place, struct psd_timers_entry entry)
{
    timers->heap[place] = entry;
    entry.timer->place = place;
}

/* Moves the hole at `place` up until `entry` may stand in it. */
static void rise(struct psd_timers *timers, size_t place, struct psd_timers_entry entry)
{
    while (place > 1 && is_before(&entry, &timers->heap[place / 2])) {
        settle(timers, place, timers->heap[place / 2]);
        place /= 2;
    }
    settle(timers, place, entry);
}

/* Moves the hole at `place` down until `entry` may stand in it. */
static void sink(struct psd_timers *timers, size_t place, struct psd_timers_entry entry)
{
    for (size_t child = 2 * place; child <= timers->count; child = 2 * place) {
        if (child < timers->count && is_before(&timers->heap[child + 1], &timers->heap[child]))
            child++;
        if (!is_before(&timers->heap[child], &entry))
            break;
        settle(timers, place, timers->heap[child]);
        place = child;
    }
    settle(timers, place, entry);
}

/* The last one fills the hole, if there is one. */
static void close_hole(struct psd_timers *timers)
{
    if (timers->has_hole && timers->count > 0)
        sink(timers, 1, timers->heap[timers->count + 1]);
    timers->has_hole = false;
}

static psd_status make_room(struct psd_timers *timers)
{
    if (timers->count + 1 < timers->room)
        return PSD_OK;
    size_t room = timers->room ? 2 * timers->room : 16;
    struct psd_timers_entry *heap = psd_alloc_resize(timers->heap, room, sizeof *heap);
    if (!heap)
        return PSD_ENOMEM;
    timers->heap = heap;
    timers->room = room;
    return PSD_OK;
}

static void add(struct psd_timers *timers, struct psd_timers_entry entry)
{
    bool has_hole = timers->has_hole;

    timers->has_hole = false;
    timers->count++;
    if (has_hole)
        sink(timers, 1, entry);
    else
        rise(timers, timers->count, entry);
}

psd_status psd_timers_set(struct psd_timers *timers, uint64_t when_ns, void (*fn)(void *arg),
                          void *arg, struct psd_timer *timer)
{
    psd_timers_cancel(timers, timer); /* which makes the room that it needs */
    PSD_TRY(make_room(timers));
    timer->when_ns = when_ns;
    timer->order = timers->next_order++;
    timer->fn = fn;
    timer->arg = arg;
    add(timers, (struct psd_timers_entry){when_ns, timer->order, timer});
    return PSD_OK;
}

void psd_timers_cancel(struct psd_timers *timers, struct psd_timer *timer)
{
    if (timer->place == 0)
        return;
    close_hole(timers);

    size_t hole = timer->place;
    struct psd_timers_entry gone = timers->heap[hole], last = timers->heap[timers->count--];
    timer->place = 0;
    if (last.timer == timer)
        return;
    if (is_before(&last, &gone)) /* the last may belong above the hole: it is from another branch */
        rise(timers, hole, last);
    else
        sink(timers, hole, last);
}

/* The place of the earliest; 0: there is none. */
static size_t find_first(const struct psd_timers *timers)
{
    if (!timers->has_hole || timers->count == 0)
        return timers->count > 0;
    return timers->count > 1 && is_before(&timers->heap[3], &timers->heap[2]) ? 3 : 2;
}

uint64_t psd_timers_next(const struct psd_timers *timers)
{
    size_t first = find_first(timers);

    return first ? timers->heap[first].when_ns : PSD_CLOCK_NEVER;
}

struct psd_timer *psd_timers_take_due(struct psd_timers *timers, uint64_t now_ns)
{
    if (psd_timers_next(timers) > now_ns || timers->count == 0)
        return NULL;
    close_hole(timers);
    struct psd_timer *timer = timers->heap[1].timer;
    timer->place = 0;
    timers->count--;
    timers->has_hole = true;
    return timer;
}
