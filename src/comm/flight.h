/* flight.h - the sends of one class that the transport has, and whether one more may join them.
 *
 *     oldest                                     newest
 *     [to 1] <-> [to 2] <-> [to 3] <-> [to 1] <-> [to 3]     in the order in which they left
 *     |<----------------- the lead ------------------->|     also those of them that have landed
 *
 * Two bounds. The credit is for the bytes in flight, since nothing overtakes those; a few sends may be there
 * however long they are. The lead is for the bytes that have left since the oldest in flight did: a piece for
 * each rank, or as many as are a few, and where the oldest or the send is longer, as much as that for each.
 * It keeps flows side by side: TCP shares a link among the flows of a member as unevenly as their windows are,
 * and without a bound the flow with the largest share would be done early while everyone waits for the
 * smallest. Where nothing is in flight one may go whatever its size.
 *
 * Part of the schedule. Each call takes a few operations and no memory. */
#ifndef PSD_COMM_FLIGHT_H
#define PSD_COMM_FLIGHT_H

#include "comm/schedule.h"

struct psd_flight {
    unsigned ranks;
    size_t credit, few;               /* bytes; sends */
    size_t bytes, count;              /* in flight */
    uint64_t left;                    /* bytes that have left, ever */
    struct psd_send *oldest, *newest; /* borrowed, linked by `next` and `before`; NULL: none */
};

/* `credit` is in bytes, and one send is a few then; 0: what keeps the links of so many ranks full. */
struct psd_flight psd_flight_of(unsigned ranks, size_t credit);

/* May `send` leave? */
bool psd_flight_admits(const struct psd_flight *flight, const struct psd_send *send);

/* It leaves; it is borrowed until it lands. */
void psd_flight_add(struct psd_flight *flight, struct psd_send *send);

/* It has landed, before or after those that left before it. */
void psd_flight_land(struct psd_flight *flight, struct psd_send *send);

#endif
