/* leave.h - members that close their seats: nobody waits for one that has left.
 *
 *     rank 1   closes after iteration 7 --- leave: 8 is the first it does not sync ---> all
 *     rank 0   waits for fc6 of iteration 8: this never comes, so the job ends with that sentence
 *
 * What a member has synced before is still summed, updated and sent: it leaves when that is done.
 * Part of the node. */
#ifndef PSD_COMM_LEAVE_H
#define PSD_COMM_LEAVE_H

#include "comm/node.h"

/* What a member that has left took part in. */
struct psd_leaver {
    bool left;
    uint64_t iteration;                  /* the first that it does not sync */
    uint32_t collected[PSD_COLLECTIVES]; /* of each kind that it took part in; modulo 2^32 */
};

struct psd_leaves {
    struct psd_leaver *all; /* owned; [ranks] */
    unsigned count;         /* that have left */
};

psd_status psd_leave_init(struct psd_node *node);
void psd_leave_fini(struct psd_node *node);

/* A member leaves. */
psd_status psd_leave_place(const struct psd_node *node, const struct psd_message *message);
void psd_leave_arrived(struct psd_node *node, const struct psd_message *message);

/* Whether everybody is still there to sync `param` in the iteration that has begun. A failure is a
 * mistake that ends the job. */
psd_status psd_leave_check_sync(struct psd_node *node, size_t param);

/* The same for the collective under way here. */
psd_status psd_leave_check_collect(struct psd_node *node);

/* The connection to a member that has left is gone: if something of it has not come, the job ends. */
void psd_leave_check_lost(struct psd_node *node, unsigned rank, const char *why);

#endif
