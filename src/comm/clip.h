/* clip.h - the norm of all gradients, which every update waits for when it is limited.
 *
 *     owners    sums of squares of what they own ---.
 *                                                   +--> rank 0: adds all in order, one factor
 *     all       update with the factor <------------'
 *
 * A dense parameter gives a number for each block of 4096 values, a factored one for each tile of
 * rows of its product and of its bias (from the Gram matrices: the product is not built for it). Rank
 * 0 adds them parameter by parameter, so the norm has the same bits whoever owns what. What is averaged
 * is no gradient: it gives no number and waits for none. Part of the node; does nothing where no limit
 * is set. */
#ifndef PSD_COMM_CLIP_H
#define PSD_COMM_CLIP_H

#include "comm/node.h"

struct psd_clip_work; /* sums of squares under way */
struct psd_exchange;

struct psd_clip {
    bool on;
    uint64_t next;               /* the iteration to be decided next, once one has begun */
    float factor[2];             /* what is left of the gradient in an even and in an odd iteration:
                                    updates of the last one may be under way */
    bool is_coming;              /* the factor of `next` */
    struct psd_clip_work *works; /* owned; one for each owned part and exchange */
    size_t n_works, left;        /* how many; not yet done for `next` */
    uint32_t *of_part;           /* owned; [n_parts]: 1 + index of its work, 0: none */
    double *mine;                /* owned; the numbers of this rank */
    size_t n_mine;

    /* At rank 0. */
    double **all;  /* owned; [ranks]: everybody's numbers */
    size_t *n_all; /* owned; [ranks] */
    bool *here;    /* owned; [ranks]: they have come, or are coming */
    unsigned expected, came;
    size_t *taken; /* owned; [ranks]: numbers that are added already */
};

psd_status psd_clip_init(struct psd_node *node);
void psd_clip_fini(struct psd_node *node);

/* The first iteration begins. */
void psd_clip_begin(struct psd_node *node, uint64_t iteration);

/* The sum of a part (an index in the layout) that we own is complete. */
void psd_clip_part(struct psd_node *node, size_t part);

/* All factors of the exchange are here. True: it may rebuild; else it is told when it may. */
bool psd_clip_lets(struct psd_node *node, struct psd_exchange *exchange);

psd_status psd_clip_place(struct psd_node *node, const struct psd_message *message,
                          struct psd_place *place);
void psd_clip_arrived(struct psd_node *node, const struct psd_message *message);

/* What is left of the gradient in an iteration that is decided; 1 where no limit is set. */
float psd_clip_factor(const struct psd_node *node, uint64_t iteration);

#endif
