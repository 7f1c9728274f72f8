/* links.c - namespaces where we may, loopback elsewhere. */
#include "cli/links.h"
#include "base/clock.h"
#include "net/tcp/address.h"

#include <stdio.h>

psd_status psd_links_open(unsigned count, bool loopback, struct psd_links *out)
{
    struct psd_links links = {.port.fd = -1};

    if (!loopback) {
        psd_status status = psd_netns_open(count, &links.netns);
        if (status == PSD_ENOSUP)
            snprintf(links.why, sizeof links.why, "%s", psd_error());
        else if (status != PSD_OK)
            return status;
    }
    *out = links;
    return PSD_OK;
}

void psd_links_close(struct psd_links *links)
{
    psd_port_release(&links->port);
    psd_netns_close(links->netns);
    links->netns = NULL;
}

psd_status psd_links_shape(struct psd_links *links, double rate)
{
    return links->netns ? psd_netns_shape(links->netns, rate) : PSD_OK;
}

psd_status psd_links_enter(const void *links, unsigned member)
{
    const struct psd_links *self = links;

    return self->netns ? psd_netns_enter(self->netns, member) : PSD_OK;
}

const char *psd_links_address(const struct psd_links *links, unsigned member, char *out,
                              size_t size)
{
    if (links->netns)
        return psd_netns_address(member, out, size);
    snprintf(out, size, "127.0.0.1");
    return out;
}

/* What is shaped is known to a percent or better; loopback is never the same twice. */
psd_status psd_links_measure(const struct psd_links *links, struct psd_goodput *out)
{
    char address[64];

    return psd_goodput_measure(
        &(struct psd_goodput_options){.enter = psd_links_enter,
                                      .place = links,
                                      .time_ns = links->netns ? PSD_CLOCK_S : 300 * PSD_CLOCK_MS,
                                      .address =
                                          psd_links_address(links, 1, address, sizeof address)},
        out);
}

psd_status psd_links_coordinator(struct psd_links *links, struct psd_value_ports ports, char *out,
                                 size_t size)
{
    unsigned port = PSD_TCP_PORT; /* nobody else is in our namespaces */
    char address[64];

    if (!links->netns) {
        psd_port_release(&links->port);
        PSD_TRY(psd_port_hold(ports, &links->port));
        port = links->port.number;
    }
    snprintf(out, size, "tcp://%s:%u", psd_links_address(links, 0, address, sizeof address), port);
    return PSD_OK;
}
