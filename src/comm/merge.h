/* merge.h - how the sums that ranks send are added up: the tree above the ranks.
 *
 *     workers      0 1 2 | 3 4 5 | 6 7          hosted by ranks 0, 1, 2
 *     inputs       a   b   c   d    e           maximal subtrees of each rank: a = 0+1, b = 2,
 *                  |    '-.-'  |    |           c = 3, d = 4+5, e = 6+7
 *                  |      f    '-.--'           merges: f = b+c, g = d+e,
 *                  '---.--'      g              h = a+f, i = h+g: the root
 *                      h         |
 *                      '----.----'
 *                           i
 *
 * Of two siblings the first to come is kept and the second added to it. Which is which changes
 * nothing: addition commutes. Follows from the hosting alone; constant and shared like the job. */
#ifndef PSD_COMM_MERGE_H
#define PSD_COMM_MERGE_H

#include "comm/job.h"
#include "math/tree.h"

#define PSD_MERGE_NONE UINT32_MAX

/* An input (index below n_inputs, from left to right) or a merge of two nodes (from n_inputs on, after
 * both); the last is the root. */
struct psd_merge_node {
    uint32_t parent;  /* PSD_MERGE_NONE for the root */
    uint32_t sibling; /* the other child of the parent */
    uint32_t rank;    /* that sends it, for an input; PSD_MERGE_NONE for a merge, as is the slot */
    uint32_t slot; /* for an input: where a server keeps it, below n_slots; siblings that are both
                         inputs share one, as the second is added to the first */
    uint32_t first_worker, workers; /* the leaves it is the sum of */
};

struct psd_merge {
    struct psd_merge_node *nodes; /* owned; [2 * n_inputs - 1] */
    uint32_t n_inputs, n_slots;
    uint32_t *first_input; /* owned; [ranks + 1]: where by_rank begins for each rank */
    uint32_t *by_rank;     /* owned; [n_inputs]: inputs, rank by rank, from left to right */
};

/* For any hosting: a rank's workers may have gaps between them, or be none. */
psd_status psd_merge_create(const struct psd_job *job, struct psd_merge **out);
void psd_merge_destroy(struct psd_merge *merge);

/* How many inputs a rank sends, and the i-th of them. */
uint32_t psd_merge_inputs(const struct psd_merge *merge, unsigned rank);
uint32_t psd_merge_input(const struct psd_merge *merge, unsigned rank, uint32_t i);

#endif
