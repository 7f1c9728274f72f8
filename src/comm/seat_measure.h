/* seat_measure.h - a measurement under way; only for seat_measure.c and seat_flow.c.
 *
 *     seat_measure.c   says when: pings, results
 *     seat_flow.c      pieces to the next rank, and from the rank before */
#ifndef PSD_COMM_SEAT_MEASURE_H
#define PSD_COMM_SEAT_MEASURE_H

#include "comm/measure.h"
#include "comm/seat.h"

/* Pieces that are in flight to a member, and bytes of the smallest and the largest. */
enum { PSD_SEAT_WINDOW = 8, PSD_SEAT_SMALLEST = 16 << 10, PSD_SEAT_LARGEST = 512 << 10 };

/* A piece on its way to the next rank. */
struct psd_seat_piece {
    struct psd_frame frame;
    uint64_t sent_ns;
    bool is_idle; /* it waits for an answer */
};

/* A place for one from the rank before. */
struct psd_seat_slot {
    bool is_taken;
    uint32_t number; /* the piece's */
};

struct psd_seat_flow {
    struct psd_measure seen;
    uint64_t begin_ns; /* 0: it has not been said that we measure */
    uint64_t asked_ns; /* the ping on its way; 0: none is */
    struct psd_timer timer;

    unsigned char *source; /* owned; PSD_SEAT_LARGEST bytes that no link can compress */
    struct psd_seat_piece pieces[PSD_SEAT_WINDOW];
    struct psd_frame last;
    uint64_t until_ns;
    size_t size;             /* of the next piece */
    uint32_t pieces_n;       /* sent so far */
    uint64_t sent, answered; /* bytes; that the next rank says it has */
    unsigned in_flight;
    bool is_over; /* the last has left */

    unsigned char *places; /* owned; PSD_SEAT_WINDOW times PSD_SEAT_LARGEST */
    struct psd_seat_slot slots[PSD_SEAT_WINDOW];

    bool is_told;             /* our result is with rank 0 */
    struct psd_measured *all; /* owned; [ranks]: at rank 0 */
    unsigned came;
};

static inline unsigned psd_seat_next_rank(const struct psd_comm *comm)
{
    return (comm->options.rank + 1) % comm->ranks;
}

/* Makes room for a measurement, unless there is one. */
psd_status psd_seat_make_flow(struct psd_comm *comm);

/* Lets pieces go to the next rank for a while; `arg` is the struct psd_comm. */
void psd_seat_start_flow(void *arg);

/* Tells rank 0 what we have measured, if that is complete. */
psd_status psd_seat_check_measured(struct psd_comm *comm);

/* The failure that a member sends what nobody expects now. */
psd_status psd_seat_out_of_turn(unsigned from, enum psd_message_kind kind);

#endif
