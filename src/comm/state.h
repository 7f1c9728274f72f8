/* state.h - what the rule keeps beside the values: collected by one rank, or given back.
 *
 *     host of worker 0   saves fc6 ------- fetch ------> rank 1, rank 2: each keeps parts of it
 *                        data [ own | rank 1 | rank 2 ] <---- state, when it saves fc6, too
 *
 * State is where the rule runs: that of a dense part at the owner of its piece, that of rows of a product
 * at the rank that rebuilds them; where everybody rebuilds all, everybody has all of it, and nothing is
 * fetched. A part goes when both its keeper and the host of worker 0 have called, straight to where
 * it is wanted: nobody keeps anything for others. The keeper's call ends when its parts have left, so
 * that the next iteration may change them. Part of the node. */
#ifndef PSD_COMM_STATE_H
#define PSD_COMM_STATE_H

#include "comm/node.h"

/* How far a part is at the host of worker 0. */
enum psd_state_part { PSD_STATE_MISSING, PSD_STATE_COMING, PSD_STATE_HERE };

struct psd_states {
    size_t param;         /* that is saved here, or was last, */
    unsigned kind;        /* which of its states, */
    float *data;          /* and where to, at the host of worker 0; borrowed until collected */
    size_t left;          /* parts that are not in `data`, or have not left; 0: none is under way */
    unsigned char *parts; /* owned; [n_parts], at the host of worker 0: enum psd_state_part */
    struct psd_work copy; /* of its own parts */
    bool is_fetched;      /* elsewhere: the host of worker 0 wants something, */
    struct psd_message fetch; /* which is this */
};

psd_status psd_state_init(struct psd_node *node);
void psd_state_fini(struct psd_node *node);

psd_status psd_state_place(struct psd_node *node, const struct psd_message *message,
                           struct psd_place *place);
void psd_state_arrived(struct psd_node *node, const struct psd_message *message);

/* A message of ours has been sent: a keeper's call ends with the last of its parts. */
void psd_state_sent(struct psd_node *node, const struct psd_message *message);

/* Whether the call under way here needs something of `rank` that has not come. */
bool psd_state_needs(const struct psd_node *node, unsigned rank);

/* Somebody waits too long in the call under way: says in `sentence` for whom. */
void psd_state_overdue(const struct psd_node *node, char *sentence, size_t size);

/* Whether such a call is under way. */
bool psd_state_is_saved(const struct psd_node *node);

/* Who keeps the state of `part`, unless everybody does; and whether nobody has to send anything of
 * `param`: everybody has all of it, or there is none. */
unsigned psd_state_server(const struct psd_node *node, size_t part);
bool psd_state_is_everywhere(const struct psd_node *node, size_t param);

/* Whether `rank` keeps something of `param` that the host of worker 0 would fetch. */
bool psd_state_is_kept(const struct psd_node *node, size_t param, unsigned rank);

/* Where this rank keeps a state of `part`; NULL: it does not, or sizes are simulated. */
float *psd_state_find(const struct psd_node *node, size_t part, unsigned kind);

/* One part less is left; the last ends the call. */
void psd_state_count(struct psd_node *node);

/* --- at the host of worker 0: state_gather.c ----------------------------------------------------- */

/* Begins to put what is saved into its place. */
void psd_state_gather(struct psd_node *node);

psd_status psd_state_place_part(struct psd_node *node, const struct psd_message *message,
                                struct psd_place *place);

/* --- elsewhere: state_give.c --------------------------------------------------------------------- */

/* Both this rank and the host of worker 0 have called: what is kept here goes. */
psd_status psd_state_give(struct psd_node *node);

psd_status psd_state_place_fetch(const struct psd_node *node, const struct psd_message *message);
void psd_state_take_fetch(struct psd_node *node, const struct psd_message *message);

#endif
