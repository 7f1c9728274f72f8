/* loop.h - one thread that owns state, and the one door to it.
 *
 *     any thread                             the loop's thread
 *
 *     psd_loop_post ---> [ c b a ] ---------> a(), b(), c()      in the order of posting
 *     psd_loop_put ----> [ notes ] ---------> n()                the same, without a lock
 *     psd_loop_call ---> [   d   ] ---------> d() ---.
 *          returns <---------------------------------'
 *                        [ timers ] --------> t()                when their time has come
 *                        [ watches ] -------> w(events)          when a descriptor is ready
 *
 * State that only the loop's thread touches needs no lock, and its code reads from top to bottom:
 * everything that happens to it is a function that was posted, a note, a timer or a watch. These functions
 * must not block, for everybody else waits meanwhile. None of the four keeps the others out, however
 * often it comes.
 *
 *     create, start ... stop, destroy       by one thread, the owner
 *     post, put, call                       any thread (call: not the loop's own)
 *     at, cancel, reserve, watch, unwatch   the loop's thread */
#ifndef PSD_BASE_LOOP_H
#define PSD_BASE_LOOP_H

#include "base/box.h"
#include "base/timers.h"
#include "poseidon/status.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct psd_loop;

/* What a watch waits for; a descriptor that is broken or hung up counts as ready for both. */
enum { PSD_LOOP_READ = 1, PSD_LOOP_WRITE = 2 };

/* A descriptor that the loop looks at; zero before its first use. */
struct psd_watch {
    void (*fn)(void *arg, unsigned events);
    void *arg;       /* borrowed until unwatch */
    int fd;          /* borrowed, too */
    unsigned events; /* that are wanted; 0: none just now */
    bool is_set;
};

/* What is to be done again and again: its own place among what waits for the loop. */
struct psd_note {
    struct psd_boxed boxed; /* the loop's from put until fn begins */
    void (*fn)(void *arg);
    void *arg; /* borrowed as long as it is put */
};

/* Says that the code after it runs on the loop's thread, and asserts it. */
#define PSD_ON_LOOP(loop) assert(psd_loop_is_current(loop))

/* Makes a loop that does not run yet. What is posted meanwhile waits for start. */
psd_status psd_loop_create(struct psd_loop **out);

/* Stops the loop if it runs, and frees it. No other thread may still be in a call. */
void psd_loop_destroy(struct psd_loop *loop);

/* Starts the thread; a loop runs once in its life. PSD_EINVAL: it was started or stopped before. */
psd_status psd_loop_start(struct psd_loop *loop);

/* Refuses posts from now on, waits until those made before have run, and ends the thread: no
 * callback runs afterwards, and timers and watches still set are forgotten. Stopping twice is fine. A
 * loop that never started drops what was posted. */
void psd_loop_stop(struct psd_loop *loop);

/* Lets the loop run fn(arg) soon; `arg` is borrowed until then. PSD_EINVAL: the loop is stopped and
 * fn will not run. */
psd_status psd_loop_post(struct psd_loop *loop, void (*fn)(void *arg), void *arg);

/* Lets the loop run note->fn(note->arg) soon, and takes neither memory nor a lock for it. It may be put
 * again as soon as its fn has begun, and not before. Notes keep their order; between them and posts none
 * is promised. PSD_EINVAL: the loop is stopped and fn will not run. */
psd_status psd_loop_put(struct psd_loop *loop, struct psd_note *note);

/* As post, and returns when fn(arg) has run. */
psd_status psd_loop_call(struct psd_loop *loop, void (*fn)(void *arg), void *arg);

/* Room for `count` posts at a time: as long as no more are waiting, none needs memory and none fails. */
psd_status psd_loop_reserve(struct psd_loop *loop, size_t count);

/* Sets `timer` to run fn(arg) at `when_ns` on psd_clock_now's clock, or soon when that has passed;
 * one that is set already moves. Equal moments run in the order of setting. `timer` is zero before
 * its first use, and borrowed until it has fired, is cancelled or the loop has stopped. */
psd_status psd_loop_at(struct psd_loop *loop, uint64_t when_ns, void (*fn)(void *arg), void *arg,
                       struct psd_timer *timer);

/* After this the timer does not fire; one that is not set stays so. */
void psd_loop_cancel(struct psd_loop *loop, struct psd_timer *timer);

/* Lets fn(arg, events) run whenever `fd` is ready for one of `events`, as long as it is (level
 * triggered); a watch that is set already changes what it waits for. Somebody else may have used up
 * the readiness by then, so `fd` does not block. A descriptor has one watch of a loop at a time.
 * PSD_ENOMEM: the kernel takes no more; PSD_EINVAL: not something that becomes ready, as a file; the
 * watch is as it was. */
psd_status psd_loop_watch(struct psd_loop *loop, int fd, unsigned events,
                          void (*fn)(void *arg, unsigned events), void *arg,
                          struct psd_watch *watch);

/* After this the watch does not run, even if its descriptor was ready; one that is not set stays so. The
 * descriptor is closed after it, not before. */
void psd_loop_unwatch(struct psd_loop *loop, struct psd_watch *watch);

/* Whether the caller is on the loop's thread. */
bool psd_loop_is_current(const struct psd_loop *loop);

#endif
