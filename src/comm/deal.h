/* deal.h - which rank gets the next piece: the one that has least.
 *
 *     load   rank 0 |#####          the next piece goes to rank 1; of ranks with equal loads to the
 *            rank 1 |###            one that was given something longest ago, at first to the one
 *            rank 2 |####           with the lowest number
 *
 * What can be dealt out in equal numbers is dealt out by turns: no rank gets its second piece of
 * such a lot before all have one. Ranks stand in a heap; one thread. */
#ifndef PSD_COMM_DEAL_H
#define PSD_COMM_DEAL_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd_deal_share {
    uint64_t turns; /* pieces by turns: the same for all whenever a lot is complete */
    uint64_t load;  /* of all pieces */
    uint64_t given; /* when it was given something last */
    uint32_t rank;
};

struct psd_deal {
    struct psd_deal_share *heap; /* owned; [ranks], the next one first */
    size_t ranks;
    uint64_t given; /* pieces in all */
};

psd_status psd_deal_init(struct psd_deal *deal, unsigned ranks);
void psd_deal_fini(struct psd_deal *deal);

/* Gives a piece of that load to a rank and returns it. `by_turns` is true for all pieces of a lot of
 * a multiple of the ranks, one after the other, and false for any other piece. */
uint32_t psd_deal_give(struct psd_deal *deal, uint64_t load, bool by_turns);

#endif
