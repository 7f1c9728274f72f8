/* inproc.c - frames between loops of one process: no bytes on any wire, the rules of one.
 *
 *     loop A                                     loop B
 *     send ---> [ incoming of B's end ] -------> place; the payload goes straight from A's memory
 *     sent <--- [ returned to A's end ] <------- arrived          to B's, on B's thread
 *
 * An endpoint belongs to its loop, and so do its ends of connections; what the two sides share is in
 * pair.h, names in registry.h, and what a side hears in hear.c. A connection has one stream. */
#include "base/alloc.h"
#include "base/secret.h"
#include "base/status.h"
#include "net/inproc/pair.h"

#include <stdio.h>
#include <string.h>

static psd_status check_options(const struct psd_endpoint_options *options)
{
    if (!options->loop)
        return psd_fail(PSD_EINVAL, "an endpoint inside the process needs a loop");
    if ((!options->address || !*options->address) && !options->towards)
        return psd_fail(PSD_ECONFIG, "an endpoint needs an address, such as inproc://a");
    if (options->key_size > PSD_TRANSPORT_KEY)
        return psd_fail(PSD_EINVAL, "a key has %d bytes at most, not %zu", PSD_TRANSPORT_KEY,
                        options->key_size);
    return PSD_OK;
}

/* The place at the address; without one, the first that is free among those named after a peer. */
static psd_status find_place(struct psd_endpoint *endpoint, size_t room,
                             const struct psd_endpoint_options *options)
{
    psd_status status = PSD_ECONFIG;

    if (options->address && *options->address) {
        snprintf(endpoint->address, room, "%s", options->address);
        return psd_inproc_register(endpoint);
    }
    for (unsigned i = 1; i && status == PSD_ECONFIG; i++) {
        snprintf(endpoint->address, room, "%s/%u", options->towards, i);
        status = psd_inproc_register(endpoint);
    }
    return status;
}

static void free_endpoint(struct psd_endpoint *endpoint)
{
    psd_secret_destroy(endpoint->key);
    psd_alloc_free(endpoint);
}

static psd_status open_endpoint(const struct psd_endpoint_options *options,
                                struct psd_endpoint **out)
{
    PSD_TRY(check_options(options));
    PSD_ON_LOOP(options->loop);
    bool is_named = options->address && *options->address;
    size_t room = strlen(is_named ? options->address : options->towards) + sizeof "/4294967295";
    struct psd_endpoint *endpoint = psd_alloc_zero(1, sizeof *endpoint + room);
    if (!endpoint)
        return PSD_ENOMEM;
    endpoint->loop = options->loop;
    endpoint->handler = options->handler;
    endpoint->user = options->user;
    psd_list_init(&endpoint->ends);
    psd_status status = psd_secret_create(options->key, options->key_size, &endpoint->key);
    if (status == PSD_OK)
        status = find_place(endpoint, room, options);
    if (status == PSD_OK)
        *out = endpoint;
    else
        free_endpoint(endpoint);
    return status;
}

/* Asks whoever has the name; in a moment they hear that, or we hear that there is nobody. */
static void ask(struct psd_inproc_pair *pair)
{
    psd_inproc_registry_lock(); /* the loop that is found cannot end before we have woken it */
    const struct psd_endpoint *listener = psd_inproc_find(pair->address[1]);
    pair->ends[1].loop = listener ? listener->loop : NULL;
    bool is_heard = listener && psd_inproc_wake(&pair->ends[1]);
    psd_inproc_registry_unlock();
    if (!is_heard)
        psd_inproc_shut(&pair->ends[0], PSD_REASON_NOBODY);
}

static psd_status connect_to(struct psd_endpoint *endpoint, const char *address,
                             struct psd_conn **out)
{
    struct psd_inproc_pair *pair = NULL;

    PSD_ON_LOOP(endpoint->loop);
    PSD_TRY(psd_inproc_pair_create(endpoint->address, address, &pair));
    struct psd_inproc_end *end = &pair->ends[0];
    pair->key = endpoint->key;
    end->state = PSD_INPROC_ASKING;
    end->endpoint = endpoint;
    end->loop = endpoint->loop;
    psd_list_push_back(&endpoint->ends, &end->link);
    ask(pair);
    *out = &end->conn;
    return PSD_OK;
}

static void send_frame(struct psd_conn *conn, struct psd_frame *frame)
{
    struct psd_inproc_end *end = (struct psd_inproc_end *)conn, *peer = psd_inproc_peer(end);

    if (end->state == PSD_INPROC_GONE) /* it is being closed: this is its handler */
        return;
    PSD_ON_LOOP(end->endpoint->loop);
    if (psd_box_put(&peer->incoming, &frame->boxed) != PSD_BOX_EMPTY || !psd_inproc_hold(end))
        return;
    psd_inproc_wake(peer);
    psd_inproc_let_go(end);
}

static void drop(struct psd_conn *conn)
{
    struct psd_inproc_end *end = (struct psd_inproc_end *)conn;

    if (end->state == PSD_INPROC_GONE) /* it is being closed: this is its handler */
        return;
    PSD_ON_LOOP(end->endpoint->loop);
    psd_inproc_leave(end, PSD_REASON_CLOSED);
}

static void close_endpoint(struct psd_endpoint *endpoint)
{
    struct psd_list *link;

    if (!endpoint)
        return;
    PSD_ON_LOOP(endpoint->loop);
    psd_inproc_unregister(endpoint);
    while ((link = psd_list_first(&endpoint->ends)))
        drop(&PSD_CONTAINER_OF(link, struct psd_inproc_end, link)->conn);
    free_endpoint(endpoint);
}

static const char *address(const struct psd_endpoint *endpoint)
{
    return endpoint->address;
}

const struct psd_transport psd_transport_inproc = {
    .scheme = "inproc",
    .open = open_endpoint,
    .address = address,
    .close = close_endpoint,
    .connect = connect_to,
    .send = send_frame,
    .drop = drop,
};
