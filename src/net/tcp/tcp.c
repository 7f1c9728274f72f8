/* tcp.c - frames between machines: endpoints, and the table of what they do.
 *
 *     member A                                                          member B
 *     connect --> legs: socket, handshake, open ======================> listener, callers
 *     send ----> the stream with the least waiting --> lane ~~~~~~~~~~> lane --> place, arrived
 *
 * tcp.h has the nouns, docs/wire.md every byte. */
#include "net/tcp/tcp.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "net/tcp/link.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_WINDOW = 16 << 10 }; /* bytes; with fewer each packet would be waited for */

static psd_status check(const struct psd_endpoint_options *options)
{
    if (!options->loop)
        return psd_fail(PSD_EINVAL, "an endpoint of tcp needs a loop");
    if (options->key_size > PSD_TRANSPORT_KEY)
        return psd_fail(PSD_EINVAL, "a key has %d bytes at most, not %zu", PSD_TRANSPORT_KEY,
                        options->key_size);
    if (options->config.streams > PSD_OPENING_STREAMS ||
        options->config.lanes > PSD_OPENING_STREAMS)
        return psd_fail(PSD_EINVAL, "a connection has %d streams and lanes at most",
                        PSD_OPENING_STREAMS);
    if (options->config.window && options->config.window < LEAST_WINDOW)
        return psd_fail(PSD_EINVAL, "a window has %d bytes at least, not %zu", LEAST_WINDOW,
                        options->config.window);
    return options->config.congestion ? psd_congestion_check(options->config.congestion) : PSD_OK;
}

static struct psd_net_config with_defaults(struct psd_net_config config)
{
    if (config.timeout_ns == 0)
        config.timeout_ns = 10 * PSD_CLOCK_S;
    if (config.caller_ns == 0)
        config.caller_ns =
            config.timeout_ns < 2 * PSD_CLOCK_S ? config.timeout_ns : 2 * PSD_CLOCK_S;
    return config;
}

/* Where nobody has said how many streams and lanes there are, the link does. */
static void count_lanes(struct psd_net_config *config, int listener)
{
    if (config->streams == 0 && config->lanes == 0)
        config->lanes =
            psd_link_lanes(psd_link_speed(listener), config->in_clear, psd_thread_processors());
    if (config->streams == 0)
        config->streams = config->lanes ? config->lanes : 1;
}

static psd_status start_lanes(struct psd_endpoint *endpoint)
{
    count_lanes(&endpoint->config, endpoint->listener);
    endpoint->lanes = psd_alloc_zero(endpoint->config.lanes, sizeof *endpoint->lanes);
    if (!endpoint->lanes)
        return PSD_ENOMEM;
    for (unsigned i = 0; i < endpoint->config.lanes; i++) {
        PSD_TRY(psd_loop_create(&endpoint->lanes[i]));
        PSD_TRY(psd_loop_start(endpoint->lanes[i]));
    }
    return PSD_OK;
}

static psd_status start(struct psd_endpoint *endpoint, const struct psd_endpoint_options *options)
{
    PSD_TRY(psd_trust_create(options->key, options->key_size, options->config.job,
                             options->config.in_clear, &endpoint->trust));
    if (!options->config.no_ktls)
        psd_trust_use_kernel(endpoint->trust);
    PSD_TRY(
        psd_tcp_listen_open(endpoint, options->address ? options->address : "", options->towards));
    PSD_TRY(start_lanes(endpoint));
    return psd_tcp_beats_start(endpoint);
}

static void close_endpoint(struct psd_endpoint *endpoint)
{
    struct psd_list *link;

    if (!endpoint)
        return;
    PSD_ON_LOOP(endpoint->loop);
    psd_tcp_listen_close(endpoint);
    while ((link = psd_list_first(&endpoint->conns)))
        psd_tcp_conn_drop(&PSD_CONTAINER_OF(link, struct psd_tcp_conn, link)->conn);
    psd_loop_cancel(endpoint->loop, &endpoint->beat);
    for (unsigned i = 0; endpoint->lanes && i < endpoint->config.lanes; i++)
        psd_loop_destroy(endpoint->lanes[i]);
    psd_alloc_free(endpoint->lanes);
    psd_trust_destroy(endpoint->trust);
    psd_alloc_free(endpoint);
}

static psd_status open_endpoint(const struct psd_endpoint_options *options,
                                struct psd_endpoint **out)
{
    PSD_TRY(check(options));
    PSD_ON_LOOP(options->loop);
    struct psd_endpoint *endpoint = psd_alloc_zero(1, sizeof *endpoint);
    if (!endpoint)
        return PSD_ENOMEM;
    endpoint->loop = options->loop;
    endpoint->handler = options->handler;
    endpoint->user = options->user;
    endpoint->config = with_defaults(options->config);
    if (options->config.congestion)
        snprintf(endpoint->congestion, sizeof endpoint->congestion, "%s",
                 options->config.congestion);
    endpoint->config.congestion = endpoint->congestion;
    endpoint->listener = -1;
    psd_list_init(&endpoint->callers);
    psd_list_init(&endpoint->conns);
    psd_status status = start(endpoint, options);
    if (status == PSD_OK)
        *out = endpoint;
    else
        close_endpoint(endpoint);
    return status;
}

static const char *address(const struct psd_endpoint *endpoint)
{
    return endpoint->address;
}

static void refusals(const struct psd_endpoint *endpoint, struct psd_net_refusals *out)
{
    *out = endpoint->refusals;
}

static void set_window(struct psd_endpoint *endpoint, size_t bytes)
{
    PSD_ON_LOOP(endpoint->loop);
    endpoint->config.window = bytes;
    PSD_LIST_EACH (link, &endpoint->callers)
        psd_tcp_leg_set_window(PSD_CONTAINER_OF(link, struct psd_tcp_leg, link), bytes);
    PSD_LIST_EACH (link, &endpoint->conns) {
        struct psd_tcp_conn *conn = PSD_CONTAINER_OF(link, struct psd_tcp_conn, link);
        for (unsigned i = 0; i < conn->count; i++) {
            if (conn->legs[i])
                psd_tcp_leg_set_window(conn->legs[i], bytes);
        }
    }
}

const struct psd_transport psd_transport_tcp = {
    .scheme = "tcp",
    .open = open_endpoint,
    .address = address,
    .refusals = refusals,
    .set_window = set_window,
    .close = close_endpoint,
    .connect = psd_tcp_dial,
    .send = psd_tcp_conn_send,
    .drop = psd_tcp_conn_drop,
};
