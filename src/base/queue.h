/* queue.h - hands items from threads that make them to threads that use them.
 *
 *     put ---.     .---------------------.     .--- take
 *            +---> | oldest  ...  newest | ----+
 *     put ---'     '---------------------'     '--- take
 *       waits while full        waits while empty
 *
 *     while (psd_queue_take(queue, &sample))      until someone calls psd_queue_close
 *         use(&sample);
 *
 * Items have one size and are copied in and out, oldest first. The room for them is made once, so
 * a maker that is too fast waits instead of filling the memory. Every call but destroy is safe from
 * any thread; destroy wants to be alone. */
#ifndef PSD_BASE_QUEUE_H
#define PSD_BASE_QUEUE_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>

struct psd_queue;

/* Makes a queue for `capacity` items of `item_size` bytes each; neither may be zero. */
psd_status psd_queue_create(size_t item_size, size_t capacity, struct psd_queue **out);

/* Frees the queue and forgets the items in it. No other thread may still be in a call. */
void psd_queue_destroy(struct psd_queue *queue);

/* Copies `item` in, waiting for room. False: the queue is closed and the item is not in it. */
bool psd_queue_put(struct psd_queue *queue, const void *item);

/* Copies the oldest item out, waiting for one. False: the queue is closed and empty. */
bool psd_queue_take(struct psd_queue *queue, void *item);

/* The same without waiting. False: also when there is no room now, or no item. */
bool psd_queue_try_put(struct psd_queue *queue, const void *item);
bool psd_queue_try_take(struct psd_queue *queue, void *item);

/* Refuses every put from now on and wakes all who wait; takers still get the items that are in.
 * Closing twice is fine. */
void psd_queue_close(struct psd_queue *queue);

#endif
