/* letters.h - what seats write to each other before there is a node: joins, rosters, parameters, plans.
 *
 *     psd_letters_send ---> mesh ---> place: an inbox for each sender ---> arrived: read it whole
 *
 * Letters are few and long, so each is memory of its own. Lives on the loop's thread. */
#ifndef PSD_COMM_LETTERS_H
#define PSD_COMM_LETTERS_H

#include "comm/mesh.h"
#include "comm/pack.h"

struct psd_letter; /* one on its way */

struct psd_letters {
    struct psd_mesh *mesh; /* borrowed until fini; set by the owner; NULL: nothing can be sent */
    unsigned rank, ranks;
    struct psd_letter *first;      /* owned; on their way */
    struct psd_pack *inbox;        /* owned; [ranks]: the letter that came last from each */
    enum psd_message_kind *coming; /* owned; [ranks]: of the one that is half there; 0: none is */
};

/* There is an inbox before there is a mesh, whose handlers need it. */
psd_status psd_letters_init(struct psd_letters *letters, unsigned rank, unsigned ranks);

/* The mesh is closed before, or no letters are on their way. All zero is fine. */
void psd_letters_fini(struct psd_letters *letters);

/* Sends a copy of `bytes` to one member, or with `to` == ranks to all that have joined the mesh. `which`
 * is that of the message. */
psd_status psd_letters_send(struct psd_letters *letters, enum psd_message_kind kind, uint32_t which,
                            unsigned to, const void *bytes, size_t length);

/* Whether the frame is a letter's; it is freed then. */
bool psd_letters_sent(struct psd_letters *letters, struct psd_frame *frame);

/* Frees what is on its way to a member that is lost, and waits for nothing from it. */
void psd_letters_forget(struct psd_letters *letters, unsigned rank);

/* A letter comes: where its bytes go. An inbox takes one at a time; another that comes on another stream
 * meanwhile waits. PSD_EPEER: it is too long. */
psd_status psd_letters_place(struct psd_letters *letters, const struct psd_message *message,
                             struct psd_place *place);

/* Whether the message that has arrived is the letter for which there was a place. */
bool psd_letters_arrived(struct psd_letters *letters, const struct psd_message *message);

/* The letter that came last from a member, with a NUL behind it; borrowed until the next one from it. */
const struct psd_pack *psd_letters_inbox(const struct psd_letters *letters, unsigned from);

/* Whether any are on their way. */
bool psd_letters_busy(const struct psd_letters *letters);

#endif
