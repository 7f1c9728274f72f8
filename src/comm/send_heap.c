/* send_heap.c - all is made of one step: of two heaps the one with the later top goes below. */
#include "comm/send_heap.h"

/* Numbers count up to their end and begin again; those that wait at the same time are close. */
static bool is_sooner(const struct psd_send *a, const struct psd_send *b)
{
    if (a->urgency != b->urgency)
        return a->urgency < b->urgency;
    if (a->order != b->order)
        return a->order < b->order;
    return (int32_t)(a->number - b->number) < 0;
}

static struct psd_send *meld(struct psd_send *a, struct psd_send *b)
{
    struct psd_send *sooner = is_sooner(b, a) ? b : a, *later = sooner == a ? b : a;

    later->next = sooner->child;
    sooner->child = later;
    return sooner;
}

struct psd_send *psd_send_heap_put(struct psd_send *top, struct psd_send *send)
{
    send->child = send->next = NULL;
    return top ? meld(top, send) : send;
}

/* Melds the heaps below a top in pairs, from left to right; the pairs are linked from right to left. */
static struct psd_send *meld_pairs(struct psd_send *below)
{
    struct psd_send *pairs = NULL;

    while (below) {
        struct psd_send *pair = below, *other = below->next;
        below = other ? other->next : NULL;
        if (other)
            pair = meld(pair, other);
        pair->next = pairs;
        pairs = pair;
    }
    return pairs;
}

struct psd_send *psd_send_heap_drop(struct psd_send *top)
{
    struct psd_send *pairs = meld_pairs(top->child), *all = pairs;

    if (!all)
        return NULL;
    for (pairs = pairs->next; pairs;) {
        struct psd_send *pair = pairs;
        pairs = pairs->next;
        all = meld(all, pair);
    }
    all->next = NULL;
    return all;
}
