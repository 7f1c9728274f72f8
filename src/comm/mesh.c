/* mesh.c - who is behind which connection. */
#include "comm/mesh.h"
#include "base/alloc.h"
#include "base/status.h"

/* A member. A connection whose other end has not yet said who it is has none for its tag. It is small:
 * a simulation has a million, and each message needs two of them. */
struct peer {
    struct psd_conn *conn; /* borrowed from the endpoint; NULL: none */
    unsigned rank;
    bool joined; /* it can be sent to */
};

struct psd_mesh {
    const struct psd_transport *transport;  /* borrowed */
    struct psd_endpoint *endpoint;          /* owned */
    const struct psd_mesh_handler *handler; /* borrowed */
    void *user;                             /* borrowed */
    unsigned rank, ranks;
    struct peer *peers; /* owned; [ranks] */
    struct psd_frame
        *hellos; /* owned; [rank]: our first words to those below us, who we connect to */
};

static void join(struct psd_mesh *mesh, struct peer *peer)
{
    peer->joined = true;
    mesh->handler->joined(mesh->user, peer->rank);
}

/* A hello says who it is; until then the connection has no tag. */
static void accepted(void *user, struct psd_conn *conn)
{
    (void)user;
    psd_conn_set_tag(conn, NULL);
}

static void connected(void *user, struct psd_conn *conn)
{
    struct psd_mesh *mesh = user;
    struct peer *peer = psd_conn_tag(conn);
    struct psd_frame *frame = &mesh->hellos[peer->rank];
    struct psd_message hello = {.kind = PSD_MESSAGE_HELLO, .from = mesh->rank};

    psd_message_encode(&hello, frame->header);
    mesh->transport->send(conn, frame);
    join(mesh, peer);
}

/* Streams keep no order between them, so other messages may come before the hello. */
static psd_status meet(struct psd_mesh *mesh, struct psd_conn *conn,
                       const struct psd_message *message, struct psd_place *out)
{
    if (message->kind != PSD_MESSAGE_HELLO) {
        out->later = true;
        return PSD_OK;
    }
    if (message->from >= mesh->ranks || message->from <= mesh->rank ||
        mesh->peers[message->from].conn) {
        if (mesh->handler->stranger)
            mesh->handler->stranger(mesh->user, message->from);
        return psd_fail(PSD_EPEER, "a stranger says that it is rank %u", message->from);
    }
    struct peer *peer = &mesh->peers[message->from];
    peer->conn = conn;
    psd_conn_set_tag(conn, peer);
    return PSD_OK;
}

static psd_status place(void *user, struct psd_conn *conn, const unsigned char *header,
                        size_t bytes, struct psd_place *out)
{
    struct psd_mesh *mesh = user;
    struct peer *peer = psd_conn_tag(conn);
    struct psd_message message;

    PSD_TRY(psd_message_decode(header, &message));
    if (message.length != bytes)
        return psd_fail(PSD_EPEER, "a header speaks of %llu bytes where %zu come",
                        (unsigned long long)message.length, bytes);
    if (!peer)
        return meet(mesh, conn, &message, out);
    if (message.kind == PSD_MESSAGE_HELLO)
        return psd_fail(PSD_EPEER, "rank %u says hello twice", peer->rank);
    if (!peer->joined) { /* its hello is on the way, on another stream */
        out->later = true;
        return PSD_OK;
    }
    return mesh->handler->place(mesh->user, peer->rank, &message, out);
}

static psd_status arrived(void *user, struct psd_conn *conn, const unsigned char *header)
{
    struct psd_mesh *mesh = user;
    struct peer *peer = psd_conn_tag(conn);
    struct psd_message message;

    PSD_TRY(psd_message_decode(header, &message));
    if (message.kind != PSD_MESSAGE_HELLO)
        return mesh->handler->arrived(mesh->user, peer->rank, &message);
    join(mesh, peer);
    return PSD_OK;
}

static void sent(void *user, struct psd_conn *conn, struct psd_frame *frame)
{
    struct psd_mesh *mesh = user;
    uintptr_t at = (uintptr_t)frame, hellos = (uintptr_t)mesh->hellos;

    (void)conn; /* nor is it looked at: it may be far away */
    if (at - hellos >= mesh->rank * sizeof *frame)
        mesh->handler->sent(mesh->user, frame);
}

static void closed(void *user, struct psd_conn *conn, const char *why)
{
    struct psd_mesh *mesh = user;
    struct peer *peer = psd_conn_tag(conn);

    if (!peer)
        return;
    peer->conn = NULL;
    peer->joined = false;
    mesh->handler->lost(mesh->user, peer->rank, why);
}

static const struct psd_net_handler handler = {.accepted = accepted,
                                               .connected = connected,
                                               .place = place,
                                               .arrived = arrived,
                                               .sent = sent,
                                               .closed = closed};

psd_status psd_mesh_open(const struct psd_mesh_options *options, struct psd_mesh **out)
{
    struct psd_mesh *mesh = psd_alloc_zero(1, sizeof *mesh);
    struct psd_endpoint_options endpoint = {.address = options->address,
                                            .towards = options->towards,
                                            .handler = &handler,
                                            .user = mesh,
                                            .loop = options->loop,
                                            .world = options->world,
                                            .key = options->key,
                                            .key_size = options->key_size,
                                            .config = options->config};

    if (!mesh)
        return PSD_ENOMEM;
    mesh->transport = options->transport;
    mesh->handler = options->handler;
    mesh->user = options->user;
    mesh->rank = options->rank;
    mesh->ranks = options->ranks;
    mesh->peers = psd_alloc_zero(options->ranks, sizeof *mesh->peers);
    for (unsigned i = 0; mesh->peers && i < options->ranks; i++)
        mesh->peers[i].rank = i;
    mesh->hellos = psd_alloc_zero(options->rank ? options->rank : 1, sizeof *mesh->hellos);
    psd_status status = mesh->peers && mesh->hellos
                            ? mesh->transport->open(&endpoint, &mesh->endpoint)
                            : PSD_ENOMEM;
    if (status == PSD_OK)
        *out = mesh;
    else
        psd_mesh_close(mesh);
    return status;
}

const char *psd_mesh_address(const struct psd_mesh *mesh)
{
    return mesh->transport->address(mesh->endpoint);
}

struct psd_net_refusals psd_mesh_refusals(const struct psd_mesh *mesh)
{
    struct psd_net_refusals refusals = {0};

    if (mesh->transport->refusals)
        mesh->transport->refusals(mesh->endpoint, &refusals);
    return refusals;
}

void psd_mesh_set_window(struct psd_mesh *mesh, size_t bytes)
{
    if (mesh->transport->set_window)
        mesh->transport->set_window(mesh->endpoint, bytes);
}

void psd_mesh_close(struct psd_mesh *mesh)
{
    if (!mesh)
        return;
    if (mesh->endpoint)
        mesh->transport->close(mesh->endpoint);
    psd_alloc_free(mesh->hellos);
    psd_alloc_free(mesh->peers);
    psd_alloc_free(mesh);
}

psd_status psd_mesh_connect(struct psd_mesh *mesh, unsigned to, const char *address)
{
    struct peer *peer = &mesh->peers[to];

    PSD_TRY(mesh->transport->connect(mesh->endpoint, address, &peer->conn));
    psd_conn_set_tag(peer->conn, peer);
    return PSD_OK;
}

bool psd_mesh_has(const struct psd_mesh *mesh, unsigned rank)
{
    return mesh->peers[rank].joined;
}

void psd_mesh_send(struct psd_mesh *mesh, unsigned to, struct psd_frame *frame)
{
    if (mesh->peers[to].conn)
        mesh->transport->send(mesh->peers[to].conn, frame);
}
