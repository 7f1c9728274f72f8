/* collect.h - small sums, copies and barriers: everybody gives to rank 0, everybody takes from it.
 *
 *     rank 1   give [own workers][count] ---.
 *     rank 2   give ----------------------- +--> rank 0: sum along the tree of workers
 *     all      take [count] <---------------'
 *
 * Sums, and copies, are numbered in the order of calls, which is the same on all ranks. A member is at
 * most one sum ahead of another, so rank 0 keeps two. A copy goes from the host of worker 0 straight to
 * all; a short one does not wait for them, and a member that is not there yet keeps it
 * (collect_copy.c). Part of the node. */
#ifndef PSD_COMM_COLLECT_H
#define PSD_COMM_COLLECT_H

#include "comm/node.h"

/* A copy may come before its call if it has so many bytes at most, and is one of so many. */
enum { PSD_COLLECT_EARLY = 1 << 20, PSD_COLLECT_AHEAD = 16 };

/* One that is under way at rank 0. */
struct psd_gathering {
    uint64_t number;
    uint32_t first_rank; /* that has given, to compare with; UINT32_MAX: nobody yet */
    size_t bytes;        /* of one worker's row */
    float *rows;         /* owned; [workers][count], rank by rank */
    size_t room;         /* bytes of `rows` */
    bool *here;          /* owned; [ranks]: its rows are here, or coming */
    unsigned came;
};

struct psd_early; /* a copy that came before its call */

struct psd_collects {
    uint64_t next[PSD_COLLECTIVES]; /* number of the next of each kind */
    bool waiting;                   /* a call is under way: */
    enum psd_collective kind;
    bool is_coming;   /* its result is on its way into `data` */
    void *data;       /* borrowed until collected */
    size_t bytes;     /* of a row, or of a copy */
    unsigned copying; /* members that have not got the copy from here yet */

    struct psd_early *early; /* owned; copies that came before their call, the oldest first */

    /* At the host of worker 0. */
    uint64_t *called; /* owned; [ranks]: copies that each has called for, as far as we know */
    bool *owed;       /* owned; [ranks]: the copy under way goes to it when it calls */

    /* At rank 0. */
    struct psd_gathering gatherings[2]; /* by parity of the number */
    uint32_t *row;                      /* owned; [workers]: of each worker */
    const float **leaves;               /* owned; [workers] */
};

psd_status psd_collect_init(struct psd_node *node);
void psd_collect_fini(struct psd_node *node);

psd_status psd_collect_place(struct psd_node *node, const struct psd_message *message,
                             struct psd_place *place);
void psd_collect_arrived(struct psd_node *node, const struct psd_message *message);

/* A message of ours has been sent: a copy ends when all have it. */
void psd_collect_sent(struct psd_node *node, const struct psd_message *message);

/* A call begins. PSD_EPEER: it cannot end, as the job has; else nothing has changed. */
psd_status psd_collect_begin(struct psd_node *node, enum psd_collective kind);

/* The call under way has its result. */
void psd_collect_done(struct psd_node *node);

/* Somebody waits too long in the call under way: says in `sentence` for whom. */
void psd_collect_overdue(const struct psd_node *node, char *sentence, size_t size);

/* What follows is in collect_copy.c. */
psd_status psd_collect_init_copies(struct psd_node *node);
void psd_collect_fini_copies(struct psd_node *node);

/* Another member calls for a copy from here. */
psd_status psd_collect_place_call(const struct psd_node *node, const struct psd_message *message);
void psd_collect_arrived_call(struct psd_node *node, const struct psd_message *message);

/* As psd_collect_overdue, for a copy. */
void psd_collect_overdue_copy(const struct psd_node *node, char *sentence, size_t size);

/* The copy with this number is called for here; and one comes. */
psd_status psd_collect_copy(struct psd_node *node, uint64_t number);
psd_status psd_collect_place_copy(struct psd_node *node, const struct psd_message *message,
                                  struct psd_place *place);
void psd_collect_arrived_copy(struct psd_node *node, const struct psd_message *message);

#endif
