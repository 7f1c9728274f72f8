/* syncer.h - one parameter as this process sees it: synced by its workers, fresh when all has come.
 *
 *     fresh --- first worker's sync ---> synced by some --- last one's ---> on its way
 *       ^                                                                       |
 *       '------------------ every part's new value is here ---------------------'
 *
 * When all workers of a merge input have synced, their gradients are added where they are, and the
 * sum of each part goes to the piece's owner. Part of the node. */
#ifndef PSD_COMM_SYNCER_H
#define PSD_COMM_SYNCER_H

#include "comm/node.h"

struct psd_syncer {
    float *value;       /* borrowed; the caller's [rows][cols] */
    uint64_t iteration; /* of the latest sync */
    bool synced;        /* by any of our workers, ever */
    unsigned missing;   /* own workers that have not synced it in that iteration */
    uint32_t due;       /* parts whose new value is not here yet; 0: fresh */
    bool awaited;       /* somebody waits for it */
};

/* One worker's latest sync of one parameter. */
struct psd_leaf {
    float *grad;   /* borrowed until fresh */
    uint64_t next; /* the iteration after the one it was in; 0: never */
};

/* Adding the gradients of an input's workers in one part. */
struct psd_local_sum {
    struct psd_work work;
    uint32_t part, input;
};

struct psd_syncers {
    struct psd_syncer *all;     /* owned; [n_params] */
    struct psd_leaf *leaves;    /* owned; [n_params][n_hosted] */
    bool *is_fresh;             /* owned; [n_parts]: its new value is here, */
    bool *is_coming;            /* owned; [n_parts]: or on its way into place */
    struct psd_local_sum *sums; /* owned; [n_parts][own inputs]; NULL: an input is one worker */
    uint32_t *urgency;          /* owned; [n_params]: the order of waits */
    uint32_t *leaving; /* owned; [n_parts]: sends that still read a sum; NULL but in sum mode */
    size_t awaited;    /* parameters that somebody waits for */
};

psd_status psd_syncer_init(struct psd_node *node);
void psd_syncer_fini(struct psd_node *node);

/* A worker of ours syncs `param`, with a gradient or with factors (NULL): checks and counts it. */
psd_status psd_syncer_count(struct psd_node *node, size_t param, unsigned worker, float *grad);

/* Whether all our workers have synced `param`, or what it follows, in the iteration begun last; the
 * first of which that is not so, n_params: there is none; and whether any worker has synced any. */
bool psd_syncer_is_synced(const struct psd_node *node, size_t param);
size_t psd_syncer_unsynced(const struct psd_node *node);
bool psd_syncer_any(const struct psd_node *node);

/* The gradient of worker `hosted` (an index) in `part`; NULL where sizes are simulated. */
float *psd_syncer_grad(const struct psd_node *node, size_t part, unsigned hosted);

/* Where the value of `part` is. */
float *psd_syncer_value(const struct psd_node *node, size_t part);

/* Gives everything of input `input` (one of ours) in `part`, which is ready, to its owner. */
void psd_syncer_push(struct psd_node *node, size_t part, uint32_t input);

/* The part's new value is on its way to so many others, from the caller's memory. In sum mode the
 * caller may overwrite it as soon as it is fresh, so it is so only when it has left. */
void psd_syncer_leaves(struct psd_node *node, size_t part, unsigned others);

/* A message of ours has been sent; it may have been the last that the caller's memory waits for. */
void psd_syncer_sent(struct psd_node *node, const struct psd_message *message);

/* The part's value is here, for good or until it has left. */
void psd_syncer_fresh(struct psd_node *node, size_t part);

/* Fresh in one go: a parameter that is rebuilt here. */
void psd_syncer_all_fresh(struct psd_node *node, size_t param);

/* A value or an initial value of a run of parts arrives. */
psd_status psd_syncer_place(struct psd_node *node, const struct psd_message *message,
                            struct psd_place *place);
void psd_syncer_arrived(struct psd_node *node, const struct psd_message *message);

#endif
