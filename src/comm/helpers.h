/* helpers.h - a few threads that do a node's works, each in the order in which it gets them.
 *
 *     loop    psd_helpers_order ---> [ w3 w2 w1 ] ---> helper: w1->run(w1) ---> loop: done(w1)
 *
 * Works are handed over through themselves, so ordering allocates nothing, and takes no lock. `order` on the loop's
 * thread; create and destroy by the owner. */
#ifndef PSD_COMM_HELPERS_H
#define PSD_COMM_HELPERS_H

#include "base/loop.h"
#include "comm/arithmetic.h"

struct psd_helpers;

/* Starts `threads` of them, at least one. done(context, work) runs on the loop's thread when a work has
 * run; the loop and the context are borrowed until destroy. */
psd_status psd_helpers_create(unsigned threads, struct psd_loop *loop,
                              void (*done)(void *context, struct psd_work *work), void *context,
                              struct psd_helpers **out);

/* Waits for the works that have begun and drops those that have not. The loop is stopped before, so that
 * no `done` is still to run. NULL is fine. */
void psd_helpers_destroy(struct psd_helpers *helpers);

/* From here on works that `arithmetic`, borrowed until destroy, has a time for are not run but end at
 * that time; before the first order, by the owner. They do not keep the others waiting. */
psd_status psd_helpers_pretend(struct psd_helpers *helpers,
                               const struct psd_arithmetic *arithmetic);

/* Lets a helper run `work`, which is borrowed until done; a short sum is run before this returns. */
void psd_helpers_order(struct psd_helpers *helpers, struct psd_work *work);

#endif
