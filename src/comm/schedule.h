/* schedule.h - what leaves next: the most urgent piece, as soon as there is credit for it.
 *
 *     queue for rank 1   [conv1][conv2][fc6] --.
 *     queue for rank 2   [conv1][fc6] ---------+--> in flight: a few pieces' bytes at most
 *     queue for rank 3   [conv2] --------------'
 *
 * Each destination has a queue in order of urgency, for pushes and for values separately: an older
 * iteration first, then what forward needs first. A send is handed to the transport while its class
 * has credit; what waits can still be overtaken. Of destinations with equally urgent sends the one
 * that was served longest ago goes first, and at the start the next one after our own rank, so that
 * members do not all send to the same one and no piece of a parameter comes much later than the
 * others. A destination has one send of a class in flight while others wait, so a slow one does not
 * use all credit. Nor do the others run away from it: what leaves is at most a piece for each rank,
 * or four, after the oldest in flight (flight.h). Both shape the order only: one send may always go.
 *
 * Belongs to the node; no clock, no I/O. Sends come from a store that grows to what the first
 * iterations need. */
#ifndef PSD_COMM_SCHEDULE_H
#define PSD_COMM_SCHEDULE_H

#include "comm/message.h"
#include "net/transport.h"

#include <stdbool.h>

enum psd_send_class { PSD_SEND_PUSH, PSD_SEND_VALUE, PSD_SEND_CONTROL, PSD_SEND_CLASSES };

/* A message on its way out. */
struct psd_send {
    struct psd_message message;
    struct psd_frame
        frame;   /* the payload is filled in with the message, the header when it is emitted */
    void *owned; /* freed when it is sent; NULL for most */
    uint32_t to;
    enum psd_send_class class; /* control has no credit and goes first */
    uint32_t number;           /* of equal order, the one queued first; the schedule's */
    uint64_t urgency;          /* the smaller, the sooner; below 2^63 */
    uint64_t order;            /* of equal urgency to one destination, the smaller, the sooner */
    struct psd_send *next;     /* while it waits, is in flight or in the store */
    struct psd_send *child;    /* while it waits (send_heap.h) */
    struct psd_send *before;   /* while it is in flight (flight.h) */
    uint64_t left_at;          /* bytes of its class that had left before it (flight.h) */
    bool in_flight;            /* the transport has it */
};

struct psd_schedule;

/* `credit` is in bytes, for pushes and for values each; 0: as flight.h says. `emit` hands a send
 * to the transport, which gives it back by psd_schedule_sent. */
psd_status psd_schedule_create(unsigned ranks, unsigned rank, size_t credit,
                               void (*emit)(void *arg, struct psd_send *send), void *arg,
                               struct psd_schedule **out);

/* Frees all sends, also those in flight: the transport has let go of them. */
void psd_schedule_destroy(struct psd_schedule *schedule);

/* Makes sends in advance, so that at least `count` can be out at a time without more memory. */
psd_status psd_schedule_reserve(struct psd_schedule *schedule, size_t count);

/* A send to fill in, zeroed; the caller queues it. NULL: out of memory. */
struct psd_send *psd_schedule_take(struct psd_schedule *schedule);

/* Queues it, and emits what may go now. Its message's length is that of its payload. */
void psd_schedule_queue(struct psd_schedule *schedule, struct psd_send *send);

/* The transport has sent it: it goes back to the store, and others may go. */
void psd_schedule_sent(struct psd_schedule *schedule, struct psd_send *send);

/* Sends that are queued or in flight. */
size_t psd_schedule_pending(const struct psd_schedule *schedule);

/* Takes back all that is queued: callers may have their memory again. */
void psd_schedule_clear(struct psd_schedule *schedule);

/* The memory of a message to `to` is the sender's again, and it was never reported sent. */
typedef void psd_schedule_dropped(void *arg, const struct psd_message *message, unsigned to);

/* Takes back what is queued or in flight for a rank that is gone (the transport has let go of it, and
 * does not give it back), says so of each message, and emits what may go now. */
void psd_schedule_forget(struct psd_schedule *schedule, unsigned rank,
                         psd_schedule_dropped *dropped);

#endif
