/* waiting.c - a binary heap: each wait comes before the two at twice its place. */
#include "comm/waiting.h"
#include "base/alloc.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

psd_status psd_waiting_init(struct psd_waiting *waiting, enum psd_waiting_kind kind, size_t most)
{
    *waiting = (struct psd_waiting){.kind = kind};
    waiting->heap = psd_alloc_zero(most, sizeof *waiting->heap);
    return waiting->heap ? PSD_OK : PSD_ENOMEM;
}

void psd_waiting_fini(struct psd_waiting *waiting)
{
    psd_alloc_free(waiting->heap);
    waiting->heap = NULL;
}

void psd_waiting_reset(struct psd_waiting *waiting)
{
    waiting->count = 0;
    waiting->since = 0;
}

static bool before(const struct psd_wait *a, const struct psd_wait *b)
{
    return a->key < b->key || (a->key == b->key && a->part < b->part);
}

/* The first has been served since the last change. */
static void charge(struct psd_waiting *waiting, double now)
{
    if (waiting->count)
        waiting->heap[0].left -= now - waiting->since;
    waiting->since = now;
}

void psd_waiting_add(struct psd_waiting *waiting, double now, uint32_t part, double seconds)
{
    const double keys[] = {part, now, now + seconds};
    struct psd_wait wait = {keys[waiting->kind], seconds, part}, *heap = waiting->heap;

    charge(waiting, now);
    size_t at = waiting->count++;
    for (; at > 0 && before(&wait, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = wait;
}

double psd_waiting_end(const struct psd_waiting *waiting)
{
    if (!waiting->count)
        return HUGE_VAL;
    const struct psd_wait *first = &waiting->heap[0];
    return waiting->kind == PSD_WAITING_TOGETHER ? first->key : waiting->since + first->left;
}

/* The one of the two below `at` that comes first; `at` itself when there is none. */
static size_t below(const struct psd_waiting *waiting, size_t at)
{
    size_t left = 2 * at + 1, right = left + 1;

    if (left >= waiting->count)
        return at;
    if (right < waiting->count && before(&waiting->heap[right], &waiting->heap[left]))
        return right;
    return left;
}

uint32_t psd_waiting_take(struct psd_waiting *waiting, double now)
{
    struct psd_wait *heap = waiting->heap;
    uint32_t part = heap[0].part;

    assert(waiting->count > 0);
    struct psd_wait last = heap[--waiting->count];
    size_t at = 0;
    for (size_t child; (child = below(waiting, at)) != at && before(&heap[child], &last);) {
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    waiting->since = now;
    return part;
}
