/* cut.h - factors travel in a few messages, so that more urgent ones overtake between them.
 *
 *     u of the receiver's rows   v
 *     [------------------------][---------------------------------]
 *     [   0   ][   1   ][   2   ][   3   ][   4   ][   5   ][  6  ]      as long as a piece, or a 64th
 *
 * Both ends know the lengths and cut alike; a message says which cut it is. There are at most 64, so
 * that those which have come are bits of a number. */
#ifndef PSD_COMM_CUT_H
#define PSD_COMM_CUT_H

#include "net/transport.h"

struct psd_cut {
    size_t bytes;   /* of u and v together */
    size_t each;    /* of a cut, but the last may be shorter */
    uint32_t count; /* 1 to 64 */
};

/* Cuts `bytes` evenly into as many as keep each within `most`, or 64; none ends within a float. */
struct psd_cut psd_cut_of(size_t bytes, size_t most);

/* All of them, as bits. */
uint64_t psd_cut_all(struct psd_cut cut);

/* Where cut `i` begins, and how long it is. */
size_t psd_cut_begin(struct psd_cut cut, uint32_t i);
size_t psd_cut_length(struct psd_cut cut, uint32_t i);

/* What of `span`, which begins `at` bytes behind the first one, is in cut `i`; perhaps nothing. */
struct psd_span psd_cut_span(struct psd_cut cut, uint32_t i, struct psd_span span, size_t at);

#endif
