/* shard.h - a piece that this rank owns: adds up its gradients, updates its values, publishes them.
 *
 *     own gradient --.
 *     push --> slot --+--> sums along the merge tree --> root --> rule --> value --> to all others
 *     push --> slot --'
 *
 * A push whose sibling is here is added to it as it arrives; one that comes first is kept in its
 * slot, so at most one of two siblings is ever kept. A round closes when the root is complete; the
 * next begins with the next push. Part of the node. */
#ifndef PSD_COMM_SHARD_H
#define PSD_COMM_SHARD_H

#include "comm/node.h"

/* Where the sum of a node of the merge is: 0, not here; GONE, added to another; else 1 + its place, with
 * BUSY while it arrives or is added to. Places below n_slots are slots, those above are the gradients
 * of our own workers. ADDING: it arrives and is added to its sibling on the way. */
enum { PSD_SHARD_GONE = 0x7fff, PSD_SHARD_BUSY = 0x8000, PSD_SHARD_ADDING = 0xffff };

/* Adding one sum to its sibling, or updating: arithmetic that is under way. */
struct psd_shard_work {
    struct psd_work work;
    struct psd_node *node;         /* borrowed, as is the next */
    struct psd_shard *shard;       /* whose single part it is about */
    uint32_t kept, added;          /* nodes of the merge */
    struct psd_shard_work *next;   /* that is idle */
    struct psd_shard_work *before; /* the one made before it */
};

/* One round of one part: it closes when the value is updated, and the next begins. */
struct psd_shard_part {
    uint64_t iteration; /* of the round */
    bool known;         /* whether that means anything yet */
    uint16_t root;      /* where the complete sum is, as in `at`; 0: not yet */
    uint16_t *at;       /* borrowed from the shard; [merge nodes]: where each sum is */
};

struct psd_shard {
    uint32_t piece;
    uint32_t n_slots;
    struct psd_shard_part *parts; /* owned; [parts of the piece] */
    uint16_t *at;                 /* owned; [parts][merge nodes] */
    float *slots;                 /* owned; [n_slots][count], NULL where sizes are simulated */
    float *states[4];             /* owned; [count] each, as many as the rule has; averaged: none */
    uint64_t fresh;               /* parts to be published when the event is over */
};

struct psd_shards {
    struct psd_shard *all; /* owned */
    uint32_t *of_piece;    /* owned; [n_pieces]: 1 + index in `all`, 0: not ours */
    size_t count;
    struct psd_shard_work *made; /* owned; all works, the last first */
    struct psd_shard_work *idle; /* borrowed from them; to take from */
};

psd_status psd_shard_init(struct psd_node *node);
void psd_shard_fini(struct psd_node *node);

/* The shard of a piece that is ours to sum; NULL: it is not. */
struct psd_shard *psd_shard_find(const struct psd_node *node, uint32_t piece);

/* The piece of a shard, its k-th part, and whether several parameters share it. */
const struct psd_piece *psd_shard_piece(const struct psd_node *node, const struct psd_shard *shard);
const struct psd_part *psd_shard_part(const struct psd_node *node, const struct psd_shard *shard,
                                      uint32_t k);
bool psd_shard_is_shared(const struct psd_node *node, const struct psd_shard *shard);

/* Nodes of the merge. */
uint32_t psd_shard_nodes(const struct psd_node *node);

/* Whether a sum is here and idle; and its place. */
bool psd_shard_is_here(uint16_t at);
uint16_t psd_shard_place_of(uint16_t at);

/* The memory at a place of part k; NULL where sizes are simulated. */
float *psd_shard_memory(const struct psd_node *node, const struct psd_shard *shard, uint32_t k,
                        uint16_t place);

/* The sum of node m is at `place`; or `added` is in `kept` now, which is the sum of their parent. What
 * follows from it is done or ordered (shard_merge.c). */
void psd_shard_arrive(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t m,
                      uint16_t place);
void psd_shard_merged(struct psd_node *node, struct psd_shard *shard, uint32_t k, uint32_t kept,
                      uint32_t added);

/* Publishes the parts that the event has made fresh, in runs. */
void psd_shard_publish_fresh(struct psd_node *node, struct psd_shard *shard);

/* Makes all works in advance that can be under way at a time. */
psd_status psd_shard_reserve(struct psd_node *node);

/* Our own input of parts [first, first + count) of the piece is ready, in the gradient of the first
 * worker of the input. */
void psd_shard_give(struct psd_node *node, uint32_t piece, uint32_t first, uint32_t count,
                    uint32_t input, uint64_t iteration);

/* A push arrives. */
psd_status psd_shard_place(struct psd_node *node, const struct psd_message *message,
                           struct psd_place *place);
void psd_shard_arrived(struct psd_node *node, const struct psd_message *message);

/* Whether one that has its place is added to its sibling on the way. */
bool psd_shard_adds(const struct psd_node *node, const struct psd_message *message);

/* The complete sum of a part (an index in the layout) of ours; NULL where sizes are simulated. */
const float *psd_shard_sum(const struct psd_node *node, size_t part);

/* Clipping is decided: updates everything that is complete. */
void psd_shard_update_all(struct psd_node *node);

/* A rank whose push of `part` (an index in the layout) of ours is not here in `iteration`;
 * UINT32_MAX: all are, or were. */
uint32_t psd_shard_missing(const struct psd_node *node, size_t part, uint64_t iteration);

/* Sends parts of a piece that is ours and fresh to all others. */
void psd_shard_publish(struct psd_node *node, uint32_t piece, uint32_t first, uint32_t count,
                       uint64_t iteration, enum psd_message_kind kind);

#endif
