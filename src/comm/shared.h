/* shared.h - small parameters that travel in one piece.
 *
 *     grads    [conv1 bias] [scale] [shift]        the callers', anywhere
 *                   \          |      /
 *     staging  [ conv1 bias | scale | shift ] --->  one push, when all are ready
 *
 *     values   [ conv1 bias | scale | shift ] <---  one value; copied to where each belongs
 *
 * When somebody waits, the parts that are ready go as they are, in runs, and the rest follow one by
 * one: nobody waits for a parameter that its own program syncs later. Part of the node. */
#ifndef PSD_COMM_SHARED_H
#define PSD_COMM_SHARED_H

#include "comm/node.h"

/* What a member holds of such a piece. */
struct psd_shared {
    uint32_t piece;
    float *staging;         /* owned; [n_hosted][count], or NULL where sizes are simulated */
    float *values;          /* owned; [count], or NULL */
    bool eager;             /* parts go as they become ready, in this iteration */
    uint64_t *ready, *gone; /* owned; [own inputs]: a bit for each part */
};

struct psd_shareds {
    struct psd_shared *all; /* owned */
    uint32_t *of_piece;     /* owned; [n_pieces]: 1 + index in `all`, 0 for pieces of one part */
    size_t count;
};

psd_status psd_shared_init(struct psd_node *node);
void psd_shared_fini(struct psd_node *node);

/* The shared piece of `part`; NULL when it has its piece to itself. */
struct psd_shared *psd_shared_find(const struct psd_node *node, size_t part);

/* Copies a gradient into the staging place of worker `hosted`. */
void psd_shared_stage(struct psd_node *node, size_t part, unsigned hosted, const float *grad);

/* Input `input` (index among ours: `own`) of `part` is ready. */
void psd_shared_ready(struct psd_node *node, size_t part, uint32_t input, size_t own);

/* Lets everything that is ready go. */
void psd_shared_flush(struct psd_node *node);

/* Parts are fresh at their owner (`out`) or have come: values are copied between here and there. */
void psd_shared_copy(struct psd_node *node, struct psd_shared *shared, uint32_t first,
                     uint32_t count, bool out);

#endif
