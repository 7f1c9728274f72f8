/* inquiry.h - who keeps us waiting.
 *
 *     rank 2   waits too long for fc6  --- who? --->  the owner of a piece that has not come
 *     rank 2   warns: "... rank 3 has not synced it"  <--- rank 3 is missing ---
 *
 * Part of the node. */
#ifndef PSD_COMM_INQUIRY_H
#define PSD_COMM_INQUIRY_H

#include "comm/node.h"

struct psd_inquiries {
    unsigned *answers; /* owned; [ranks]: that are on their way to each */
};

psd_status psd_inquiry_init(struct psd_node *node);
void psd_inquiry_fini(struct psd_node *node);

/* A question or an answer comes. */
psd_status psd_inquiry_place(const struct psd_node *node, const struct psd_message *message);
void psd_inquiry_arrived(struct psd_node *node, const struct psd_message *message);

/* A message of ours to `to` has been sent: it may have been an answer. */
void psd_inquiry_sent(struct psd_node *node, const struct psd_message *message, unsigned to);

#endif
