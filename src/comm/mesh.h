/* mesh.h - a connection to every other member, each known by its rank.
 *
 *     rank 2 --- connects, hello ---> rank 1         the higher rank connects to the lower, and says
 *     rank 2 --- connects, hello ---> rank 0         first of all who it is
 *
 * Stands between a transport and a driver of node.h: messages come decoded, with the rank of their
 * sender. Lives on the endpoint's thread. */
#ifndef PSD_COMM_MESH_H
#define PSD_COMM_MESH_H

#include "comm/message.h"
#include "net/transport.h"

struct psd_mesh;

/* What the driver hears; `from` is a rank. */
struct psd_mesh_handler {
    /* The member can be sent to from now on. */
    void (*joined)(void *user, unsigned from);

    /* As in transport.h. A failure makes the member lost. */
    psd_status (*place)(void *user, unsigned from, const struct psd_message *message,
                        struct psd_place *place);
    psd_status (*arrived)(void *user, unsigned from, const struct psd_message *message);

    void (*sent)(void *user, struct psd_frame *frame);

    /* The connection to it is gone, or could not be made; frames to it that were not reported sent
     * are the sender's again. */
    void (*lost)(void *user, unsigned from, const char *why);

    /* Optional: somebody says that it is a rank which is not in the job, or is here already. It is
     * not let in. */
    void (*stranger)(void *user, unsigned rank);
};

struct psd_mesh_options {
    const struct psd_transport *transport; /* static */
    const char *address, *towards; /* as in transport.h; borrowed for the call, as is the key */
    const void *key;
    size_t key_size;
    struct psd_net_config config;
    struct psd_loop *loop; /* borrowed until close, as is the world */
    void *world;
    unsigned rank, ranks;
    const struct psd_mesh_handler *handler; /* static */
    void *user;                             /* its first argument; borrowed until close */
};

/* Takes the place at the address and lets in who connects. */
psd_status psd_mesh_open(const struct psd_mesh_options *options, struct psd_mesh **out);

/* Where it listens, as others connect to it; borrowed until close. */
const char *psd_mesh_address(const struct psd_mesh *mesh);

/* What has been refused at the door so far, by reason. */
struct psd_net_refusals psd_mesh_refusals(const struct psd_mesh *mesh);

/* Bounds what is on its way to each member, where the transport can (psd_transport.set_window). */
void psd_mesh_set_window(struct psd_mesh *mesh, size_t bytes);

/* Closes all connections; the handler hears nothing more. NULL is fine. */
void psd_mesh_close(struct psd_mesh *mesh);

/* Connects to a member with a lower rank; joined or lost follows. */
psd_status psd_mesh_connect(struct psd_mesh *mesh, unsigned to, const char *address);

/* Whether the member can be sent to. */
bool psd_mesh_has(const struct psd_mesh *mesh, unsigned rank);

/* Sends to a member that has joined; one that was lost meanwhile gets nothing, and `sent` is not
 * called. */
void psd_mesh_send(struct psd_mesh *mesh, unsigned to, struct psd_frame *frame);

#endif
