/* measure.h - how fast the network is, from what comes when.
 *
 *     rank r    ping --> r+1 --> pong        latency: half of the median round trip
 *     rank r    flow ==> r+1                 bandwidth: bytes over time at the receiver, all ranks at once,
 *                                            so that each link is busy in both directions
 *
 *        | warm-up     | counted                       |
 *     ---x--x---x-x-x--x===x==x==x==x==x==x==x==x==x==x     arrivals of pieces at a rank
 *
 * The plan takes the least bandwidth of all ranks, and the median of their latencies. No I/O, no clock:
 * whoever measures says what time it is. */
#ifndef PSD_COMM_MEASURE_H
#define PSD_COMM_MEASURE_H

#include "comm/pack.h"

enum { PSD_MEASURE_ROUNDS = 9 }; /* round trips that are enough */

/* What a member has seen so far; all zero at first. */
struct psd_measure {
    uint64_t rounds_ns[PSD_MEASURE_ROUNDS];
    unsigned n_rounds;

    uint64_t first_ns, first_bytes; /* the first piece */
    uint64_t warm_ns;               /* the piece with which the warm-up ended; 0: it has not */
    uint64_t warm_bytes;            /* of all pieces up to that */
    uint64_t last_ns, bytes;        /* of all pieces */
    uint32_t pieces, of_pieces;     /* that have come, and of how many */
    bool is_last;                   /* of_pieces is known */
};

/* A round trip has taken `ns`; not counted when there are enough. */
void psd_measure_round(struct psd_measure *measure, uint64_t ns);

/* A piece of `bytes` has come. */
void psd_measure_piece(struct psd_measure *measure, uint64_t now_ns, uint64_t bytes);

/* There were `count` pieces in all. */
void psd_measure_last(struct psd_measure *measure, uint32_t count);

/* Whether there is a round trip, and all pieces have come. */
bool psd_measure_is_done(const struct psd_measure *measure);

/* What a member tells rank 0: two numbers of pack.h, u64 each. */
struct psd_measured {
    uint64_t latency_ns; /* one way */
    uint64_t bandwidth;  /* bytes a second; 1 at least */
};

/* `begin_ns`: when the flow began, for one that was a single piece. */
struct psd_measured psd_measure_result(const struct psd_measure *measure, uint64_t begin_ns);

psd_status psd_measure_pack(const struct psd_measured *measured, struct psd_pack *pack);

/* PSD_EPEER: rank `from` has measured nothing that makes sense. */
psd_status psd_measure_read(unsigned from, const void *bytes, size_t length,
                            struct psd_measured *out);

/* The least bandwidth of all, whose it is, and the median latency. Reorders nothing. PSD_ENOMEM. */
psd_status psd_measure_combine(const struct psd_measured *all, unsigned count,
                               struct psd_measured *out, unsigned *slowest);

#endif
