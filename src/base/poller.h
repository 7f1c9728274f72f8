/* poller.h - where a loop with watches sleeps: the kernel's list of descriptors, and a bell.
 *
 *     descriptors ---.
 *     other threads, |       wait: the kernel's events go into `ready`
 *     by the bell ---+---->  run:  [ w1 | w2 | -- | w4 ]  each watch that is ready, once
 *     a moment ------'                         '-- unset meanwhile: its event is struck out
 *
 * It belongs to the loop's thread, except for the bell, which anyone may ring. The bell is an eventfd
 * that is never read: it is watched for its edges, so that a ring is one system call and hearing it
 * none beside the sleep itself. */
#ifndef PSD_BASE_POLLER_H
#define PSD_BASE_POLLER_H

#include "base/loop.h"

struct psd_poller;

/* PSD_ENOMEM: the process has no descriptors left, or there is no memory. */
psd_status psd_poller_create(struct psd_poller **out);

/* Forgets watches that are still set, and touches none of them. NULL is fine. */
void psd_poller_destroy(struct psd_poller *poller);

/* As psd_loop_watch and psd_loop_unwatch. */
psd_status psd_poller_watch(struct psd_poller *poller, const struct psd_watch *wanted,
                            struct psd_watch *watch);
void psd_poller_unwatch(struct psd_poller *poller, struct psd_watch *watch);

/* Ends the wait that is going on, or else the next one. Any thread. */
void psd_poller_ring(struct psd_poller *poller);

/* Sleeps until a watch is ready, the bell rings or `until_ns` has come (PSD_CLOCK_NEVER: no moment),
 * and keeps what is ready for run. It may return early. */
void psd_poller_wait(struct psd_poller *poller, uint64_t until_ns);

/* For a loop that has no time to sleep: keeps what is ready, if nobody has looked for a while. */
void psd_poller_glance(struct psd_poller *poller);

/* Calls the watches that were found ready; after every wait and glance. */
void psd_poller_run(struct psd_poller *poller);

/* For tests: whether the kernel is taken for one that lacks epoll_pwait2. */
void psd_poller_be_old(struct psd_poller *poller, bool is_old);

#endif
