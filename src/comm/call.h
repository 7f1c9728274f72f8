/* call.h - what the files of the public calls share.
 *
 *     comm_open.c     takes a seat
 *     comm_start.c    adds parameters and starts
 *     comm.c          begin, sync, wait: an iteration
 *     comm_collect.c  reduce, barrier, broadcast
 *     comm_state.c    what the rule keeps: saved and loaded
 *     comm_look.c     forms, routes, hosted workers, plan, counters
 *     comm_end.c      ends the job for all
 *     comm_close.c    gives the seat back
 *
 * What a call needs from the loop at once it gets by asking it; a sync only posts, and a wait for a
 * value that is fresh looks at one atomic flag. */
#ifndef PSD_COMM_CALL_H
#define PSD_COMM_CALL_H

#include "comm/seat.h"

/* A question to the loop, with its answer; on its caller's stack. */
struct psd_call {
    void (*fn)(struct psd_call *call); /* psd_call_ask's */
    struct psd_comm *comm;             /* borrowed */
    const struct psd_request *request; /* borrowed; for a sync */
    size_t param;                      /* for a wait, or for state, as is the next */
    unsigned state;                    /* which of what the rule keeps */
    uint64_t iteration;                /* for begin, as is the next */
    float rate;
    enum psd_collective kind; /* for a collective, as are the next two */
    void *data;               /* borrowed; for state, too */
    size_t bytes;
    psd_status status;
    char sentence[1024]; /* of a failure: psd_error() on the loop's thread */
};

/* Runs fn(call) on the loop, unless the job has ended, and returns what it answers. */
psd_status psd_call_ask(void (*fn)(struct psd_call *call), struct psd_call *call);

/* On the loop: keeps the status, and the sentence of a failure for the thread that asks. Without an
 * answer it is PSD_OK. */
void psd_call_answer(struct psd_call *call, psd_status status);

/* Runs fn(arg) on the loop for certain: the loop must hear it, and has memory for it sooner or later. */
void psd_call_surely(struct psd_comm *comm, void (*fn)(void *arg), void *arg);

/* The job has ended: waits until the other members know, or for a moment. Not on the loop. */
void psd_call_tell(struct psd_comm *comm);

/* PSD_OK while the job goes on; else how and why it has ended. Any thread. */
psd_status psd_call_check(struct psd_comm *comm);

/* The same, and whether it has been started; and whether there is such a parameter. */
psd_status psd_call_check_started(struct psd_comm *comm);
psd_status psd_call_check_param(struct psd_comm *comm, int id);

/* Lets fn(call) begin the one collective of this seat on the loop, and waits until it has ended. */
psd_status psd_call_collect(void (*fn)(struct psd_call *call), struct psd_call *call);

/* When a wait that begins now has taken too long. */
uint64_t psd_call_deadline(const struct psd_comm *comm);

/* With the lock held: waits for a change. False: the deadline has passed. */
bool psd_call_wait(struct psd_comm *comm, uint64_t deadline_ns);

/* With the lock held: waits while `is_pending`, unless the job ends, and has `overdue` run on the loop, to
 * say who is missing, each time that takes too long. */
psd_status psd_call_wait_while(struct psd_call *call, bool (*is_pending)(const struct psd_call *),
                               void (*overdue)(struct psd_call *));

/* With the lock held: the sentence with which the job has ended, as a failure. Whoever hears it may end
 * the process on the spot, so the first one hears it when the other members know, or soon. */
psd_status psd_call_end(struct psd_comm *comm);

#endif
