/* node_state.h - the inside of a node; only for the files that make it up.
 *
 *     syncer.c    what the process's own workers have synced, and which values are fresh
 *     shared.c    small parameters that travel in one piece
 *     shard.c     the pieces this rank owns: adds up, updates, publishes (shard_*.c)
 *     exchange.c  factors: sends, gathers, rebuilds (exchange_*.c)
 *     clip.c      the norm of all gradients, when updates wait for it
 *     collect.c   small sums, copies and barriers
 *     state.c     what the rule keeps, saved and loaded (state_*.c)
 *     inquiry.c   who keeps us waiting
 *     leave.c     members that close their seats
 *     node.c      makes it, and takes calls that are for no part alone
 *     node_*.c    what it sends, what it receives, what becomes of a sum, how it ends, how much it
 *                 makes in advance */
#ifndef PSD_COMM_NODE_STATE_H
#define PSD_COMM_NODE_STATE_H

#include "base/list.h"
#include "base/status.h"
#include "comm/clip.h"
#include "comm/collect.h"
#include "comm/exchange.h"
#include "comm/inquiry.h"
#include "comm/leave.h"
#include "comm/node.h"
#include "comm/shard.h"
#include "comm/shared.h"
#include "comm/state.h"
#include "comm/syncer.h"

struct psd_ending;

/* The learning rate of an iteration, and who was the first to say so. */
struct psd_node_rate {
    uint64_t iteration;
    uint32_t rank;
    uint32_t bits; /* of a float */
    bool is_known;
};

enum { PSD_NODE_RATES = 4 }; /* iterations with messages on their way: ours, and one on each side */

struct psd_node {
    const struct psd_job *job; /* borrowed, as are the next two */
    const struct psd_layout *layout;
    const struct psd_merge *merge;
    unsigned rank;
    bool sizes_only;
    const struct psd_node_driver *driver; /* borrowed */
    void *context;                        /* borrowed; the driver's */

    unsigned *hosted; /* owned; this rank's workers, rising */
    unsigned n_hosted;

    bool spreads; /* worker 0's values are on their way, or were */
    bool begun;
    uint64_t iteration;                         /* begun last */
    struct psd_node_rate rates[PSD_NODE_RATES]; /* by the iteration's last bits */

    struct psd_schedule *schedule; /* owned */
    struct psd_syncers syncers;
    struct psd_shareds shareds;
    struct psd_shards shards;
    struct psd_exchanges exchanges;
    struct psd_clip clip;
    struct psd_collects collects;
    struct psd_states states;
    struct psd_inquiries inquiries;
    struct psd_leaves leaves;

    bool ended;   /* nothing happens any more */
    bool *gone;   /* owned; [ranks]: its connection is closed */
    size_t works; /* ordered and not yet done */
    struct psd_comm_counters counters;
    struct psd_ending *endings; /* owned; sentences with which others end the job, on their way */
    char *farewell;             /* owned; the one that has ended it, on its way to others */
    size_t memory;              /* bytes behind places, sums, factors, state and scratch */
};

/* Memory for numbers that only real payloads need, zeroed; in *out NULL where sizes are simulated. It
 * counts as the node's memory either way. */
psd_status psd_node_floats(struct psd_node *node, size_t count, float **out);
psd_status psd_node_doubles(struct psd_node *node, size_t count, double **out);

/* Sends the message with its payload, `first` and then `second` (which may be empty), both borrowed
 * until they are sent. What the message says of sender and length is filled in. False: the member is
 * gone, and needs nothing any more, or the job has ended for lack of memory. */
bool psd_node_send(struct psd_node *node, const struct psd_message *message, unsigned to,
                   enum psd_send_class class, uint32_t urgency, struct psd_span first,
                   struct psd_span second);

/* Sends the message, with `data` as payload of the length it says, to all others but `except`, the
 * next after us first, and returns how many these are; `data` is borrowed until all are sent. */
unsigned psd_node_tell(struct psd_node *node, const struct psd_message *message,
                       enum psd_send_class class, uint32_t urgency, const void *data,
                       unsigned except);

/* A message to a member that is gone is never reported sent; it counts as if it were. */
void psd_node_dropped(void *node, const struct psd_message *message, unsigned to);

/* Orders a work that its owner has filled in. */
void psd_node_order(struct psd_node *node, struct psd_work *work);

psd_status psd_node_init_end(struct psd_node *node);
void psd_node_fini_end(struct psd_node *node);

/* A member ends the job (node_end.c). */
psd_status psd_node_place_end(struct psd_node *node, const struct psd_message *message,
                              struct psd_place *place);
void psd_node_hear_end(struct psd_node *node, const struct psd_message *message);

/* The job ends for lack of memory. */
void psd_node_no_memory(struct psd_node *node);

/* Ends the job with this sentence, on all ranks, and returns `status`. */
__attribute__((format(printf, 3, 4))) psd_status psd_node_mistake(struct psd_node *node,
                                                                  psd_status status,
                                                                  const char *format, ...);

/* The index of `worker` in node->hosted; n_hosted when it is not one of ours. */
unsigned psd_node_hosted_index(const struct psd_node *node, unsigned worker);

/* This rank's learning rate of an iteration, or the one that comes with a message: not another one than
 * was heard before, or the job ends (node_rate.c). Messages with no rate are all right. */
psd_status psd_node_set_rate(struct psd_node *node, uint64_t iteration, float rate);
bool psd_node_hear_rate(struct psd_node *node, const struct psd_message *message);

/* The learning rate of an iteration that has begun here, and what a message of it says of that. */
float psd_node_rate(const struct psd_node *node, uint64_t iteration);
uint32_t psd_node_rate_of(const struct psd_node *node, const struct psd_message *message);

/* Whether somebody waits, for a value or in a collective: then nothing that is ready is held back. */
bool psd_node_awaited(const struct psd_node *node);

/* Lets the part that a message is for say where its payload goes. PSD_EPEER: it may not come now, and
 * nothing has changed; psd_node_place ends the job with the sentence. */
psd_status psd_node_find_place(struct psd_node *node, unsigned from,
                               const struct psd_message *message, struct psd_place *place);

/* Whether the message names a piece, parts of it and their length as the layout has them. */
psd_status psd_node_check_run(const struct psd_node *node, const struct psd_message *message);

/* How soon what concerns `param` is wanted. */
uint32_t psd_node_urgency(const struct psd_node *node, size_t param);

/* Applies the rule, averages, or in sum mode copies: values [first, first + count) of `param` from the
 * sum `gradient`, with the states from `at` on. Any thread. */
void psd_node_apply(const struct psd_node *node, size_t param, uint64_t iteration, size_t first,
                    size_t count, const float *gradient, float *const *states, size_t at);

#endif
