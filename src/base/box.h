/* box.h - things change hands without a lock: any thread puts one in, and who takes, takes all.
 *
 *     put a, put b, put c ---> [ c -> b -> a ] ---> take: a, b, c
 *
 * A thing has a struct psd_boxed as its first member, and is linked through that: putting allocates
 * nothing and waits for nobody. Between put and take the thing is the box's. Whoever has put the first
 * one into an empty box knows that, and may wake the taker. */
#ifndef PSD_BASE_BOX_H
#define PSD_BASE_BOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct psd_boxed {
    struct psd_boxed *next; /* borrowed; NULL: the last */
};

/* Zero is an empty box. */
struct psd_box {
    _Atomic(struct psd_boxed *) newest; /* borrowed; the box's own address: shut */
};

/* How a box was found. */
enum psd_box_was { PSD_BOX_EMPTY, PSD_BOX_FILLED, PSD_BOX_SHUT };

static inline struct psd_boxed *psd_box_own(struct psd_box *box)
{
    return (struct psd_boxed *)(void *)box; /* no thing has that address */
}

/* Puts it in, unless the box is shut. */
static inline enum psd_box_was psd_box_put(struct psd_box *box, struct psd_boxed *thing)
{
    struct psd_boxed *before = atomic_load_explicit(&box->newest, memory_order_relaxed);

    do {
        if (before == psd_box_own(box))
            return PSD_BOX_SHUT;
        thing->next = before;
    } while (!atomic_compare_exchange_weak(&box->newest, &before, thing));
    return before ? PSD_BOX_FILLED : PSD_BOX_EMPTY;
}

/* The same things, the oldest first. */
static inline struct psd_boxed *psd_box_turn(struct psd_boxed *newest)
{
    struct psd_boxed *oldest = NULL;

    while (newest) {
        struct psd_boxed *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* All that is in the box, which is not shut, the oldest first; NULL: nothing. */
static inline struct psd_boxed *psd_box_take(struct psd_box *box)
{
    return psd_box_turn(atomic_exchange(&box->newest, NULL));
}

/* The same, and nothing more is put in from then on. Twice is fine. */
static inline struct psd_boxed *psd_box_shut(struct psd_box *box)
{
    struct psd_boxed *newest = atomic_exchange(&box->newest, psd_box_own(box));

    return newest == psd_box_own(box) ? NULL : psd_box_turn(newest);
}

/* Whether there is nothing to take just now. */
static inline bool psd_box_is_empty(const struct psd_box *box)
{
    return !atomic_load(&box->newest);
}

#endif
