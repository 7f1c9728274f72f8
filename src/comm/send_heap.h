/* send_heap.h - the sends that wait for one destination, the most urgent on top.
 *
 *          conv1                 a pairing heap: each send points to the first of those below it
 *          /                     (child) and to the next one beside it (next)
 *       conv2 - fc6
 *               /
 *             fc7
 *
 * An empty heap is a NULL pointer, and nothing is ever allocated. Putting takes constant time and
 * taking O(log n), seen over many. One thread. */
#ifndef PSD_COMM_SEND_HEAP_H
#define PSD_COMM_SEND_HEAP_H

#include "comm/schedule.h"

/* Adds `send`, which is in no heap, and returns the new top. */
struct psd_send *psd_send_heap_put(struct psd_send *top, struct psd_send *send);

/* Takes `top` away and returns the new one; NULL: it was the last. */
struct psd_send *psd_send_heap_drop(struct psd_send *top);

#endif
