/* line.h - the sends of one class that wait or are in flight, and which of them is next.
 *
 *     queues   0  1  2  3 ...           what waits for each destination (send_heap.h), and how much
 *              |     |  |               is in flight there
 *     heap     [   2   ]                destinations for which something waits, the next on top:
 *              [ 0 | 3 ]                [3], and below [n] are [4n - 8] to [4n - 5]
 *
 * A destination with nothing in flight comes before one with something; of those the one whose first
 * send is the most urgent; of those the one that was served longest ago, at first the next one after
 * our own rank. Destinations are counted from there: 0 is the rank after us. Small sends are no
 * service until they are as much as a piece: else the rank that owns the biases, a few bytes of each
 * layer, would miss a turn with each of them, and all would wait for it in the end.
 *
 * Each call takes O(log n). The four below one stand in one line of the cache with all that is
 * compared. An empty queue has 32 bytes and 16 in the heap; nothing is allocated after init. Part of
 * the schedule. */
#ifndef PSD_COMM_LINE_H
#define PSD_COMM_LINE_H

#include "comm/schedule.h"

struct psd_line_queue {
    struct psd_send *first; /* borrowed, as all below it; NULL: nothing waits */
    uint64_t served;        /* when it was served last */
    uint32_t small;         /* bytes of small sends since then */
    uint32_t in_flight;     /* sends that were taken and have not landed */
    uint32_t place;         /* in the heap; 0: nothing waits */
};

/* Compared by `urgency`, then by `turn`. */
struct psd_line_entry {
    uint64_t urgency; /* of the first send, and in the top bit: something is in flight */
    uint64_t turn;    /* when it was served last, and below that its number */
};

struct psd_line {
    unsigned ranks, rank;
    struct psd_line_queue *queues; /* owned; [ranks] */
    struct psd_line_entry *heap;   /* owned; [ranks + 3] */
    uint32_t waiting;              /* entries */
    uint64_t served;               /* turns, ever */
};

/* For at most 1048576 ranks. */
psd_status psd_line_init(struct psd_line *line, unsigned ranks, unsigned rank);
void psd_line_fini(struct psd_line *line);

/* Lets `send` wait; it is borrowed until it is taken or removed. */
void psd_line_put(struct psd_line *line, struct psd_send *send);

/* The send that is next; NULL when none waits. */
struct psd_send *psd_line_first(const struct psd_line *line);

/* Takes it: it is in flight now. */
void psd_line_take(struct psd_line *line);

/* One that is in flight has landed. */
void psd_line_land(struct psd_line *line, const struct psd_send *send);

/* Removes a send that waits for `to`; NULL when none does. */
struct psd_send *psd_line_remove(struct psd_line *line, unsigned to);

#endif
