/* pool.h - a few threads that share out work.
 *
 *     psd_pool_each(pool, 6, fn, arg)          caller    fn(0) fn(3) fn(4)
 *                                              helper    fn(1) fn(5)
 *                                              helper    fn(2)
 *
 * Whoever is free takes the next index, so which thread runs an index differs from run to run, and
 * results must not depend on it: an index writes only what is its own. How work is cut into indices
 * is therefore up to the caller, never to the number of threads.
 *
 * The caller works too, and needs nobody else to finish: `each` may be used by several threads at
 * once and inside an index or a job. Handing out an index costs a lock, so let one be worth
 * microseconds. A thread without work looks for some more, about 30 us long, before it sleeps: waking
 * one takes longer than many a batch. Any thread, except that destroy wants to be alone. */
#ifndef PSD_BASE_POOL_H
#define PSD_BASE_POOL_H

#include "poseidon/status.h"

#include <stddef.h>

struct psd_pool;

/* Makes a pool in which `each` runs on up to `threads` threads, the caller included. With 1, `each`
 * does everything in the caller, and the only helper is for submitted jobs. */
psd_status psd_pool_create(unsigned threads, struct psd_pool **out);

/* Waits until all submitted jobs have run, ends the threads and frees the pool. */
void psd_pool_destroy(struct psd_pool *pool);

/* Runs fn(arg, index) for every index below `count` and returns when all have run, also when some
 * fail. The failure of the lowest index is returned, and its sentence is the caller's psd_error().
 */
psd_status psd_pool_each(struct psd_pool *pool, size_t count,
                         psd_status (*fn)(void *arg, size_t index), void *arg);

/* Lets a helper run fn(arg) when one is free; jobs start in the order of submitting. `arg` is
 * borrowed until fn returns; fn itself tells whoever waits for it. */
psd_status psd_pool_submit(struct psd_pool *pool, void (*fn)(void *arg), void *arg);

#endif
