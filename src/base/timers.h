/* timers.h - what is to be done when: a binary heap of moments.
 *
 *              [1] 10 ms               the earliest on top; of equal moments the one set first
 *             /         \
 *        [2] 30 ms    [3] 10 ms
 *        /
 *     [4] 30 ms                        each timer knows its place, so it can be cancelled
 *
 * Whoever takes one often sets another at once, so what is taken leaves a hole on top, which the next one
 * that is set fills on its way down.
 *
 * No clock is read here: whoever owns the heap says what time it is, so the same timers serve a
 * loop in real time and a simulation in its own. It has no lock; it belongs to one thread. */
#ifndef PSD_BASE_TIMERS_H
#define PSD_BASE_TIMERS_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thing to be done, embedded where it is about. All zero before its first use; the fields are
 * set by psd_timers_set. */
struct psd_timer {
    uint64_t when_ns;
    uint64_t order;        /* of equal moments, the smaller comes first */
    void (*fn)(void *arg); /* what the owner of the heap calls */
    void *arg;             /* borrowed until then */
    size_t place;          /* in the heap, from 1; 0: not set */
};

/* A place of the heap has all that is compared, so that one that is not moved is not looked at. */
struct psd_timers_entry {
    uint64_t when_ns, order;
    struct psd_timer *timer; /* borrowed while it is set */
};

struct psd_timers {
    struct psd_timers_entry *heap; /* owned; [1..count], or with a hole [2..count + 1] */
    size_t count, room;            /* timers that are set; entries of the heap, [0] is unused */
    bool has_hole;                 /* [1] is nobody's */
    uint64_t next_order;
};

void psd_timers_init(struct psd_timers *timers);

/* Frees the heap; timers that are still set are forgotten, not touched. */
void psd_timers_fini(struct psd_timers *timers);

/* Sets `timer` to `when_ns`; one that is set already is moved there. PSD_ENOMEM: it is not set. */
psd_status psd_timers_set(struct psd_timers *timers, uint64_t when_ns, void (*fn)(void *arg),
                          void *arg, struct psd_timer *timer);

/* Makes `timer` one that is not set; it may be so already. */
void psd_timers_cancel(struct psd_timers *timers, struct psd_timer *timer);

/* The earliest moment that is set; PSD_CLOCK_NEVER when there is none. */
uint64_t psd_timers_next(const struct psd_timers *timers);

/* Takes the first timer whose moment is not after `now_ns` off the heap; NULL when none is due. */
struct psd_timer *psd_timers_take_due(struct psd_timers *timers, uint64_t now_ns);

#endif
