/* port.c - a socket that is bound and never listens. */
#include "cli/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Returns 0 or an errno. SO_REUSEADDR comes after bind, so that nobody else has it already; or, where old
 * connections of the port may fade, before. */
static int take(uint16_t number, bool may_fade, struct psd_port *out)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                               .sin_port = htons(number)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1, error = 0;

    if (fd < 0)
        return errno;
    if ((may_fade && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes)) ||
        bind(fd, (const struct sockaddr *)&name, sizeof name) ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes))
        error = errno;
    if (error)
        close(fd);
    else
        *out = (struct psd_port){.fd = fd, .number = number};
    return error;
}

static int search(struct psd_value_ports from, bool may_fade, struct psd_port *out)
{
    int error = EADDRINUSE;

    for (unsigned number = from.first; number <= from.last && error == EADDRINUSE; number++)
        error = take((uint16_t)number, may_fade, out);
    return error;
}

psd_status psd_port_hold(struct psd_value_ports from, struct psd_port *out)
{
    int error = search(from, false, out);

    if (error == EADDRINUSE)
        error = search(from, true, out);
    if (error == EADDRINUSE)
        return psd_fail(PSD_ECONFIG,
                        "all ports %u-%u of 127.0.0.1 are taken: choose others by net.port",
                        from.first, from.last);
    if (error)
        return psd_fail(PSD_ECONFIG, "hold a port of 127.0.0.1 from %u on: %s", from.first,
                        strerrordesc_np(error));
    return PSD_OK;
}

void psd_port_release(struct psd_port *port)
{
    if (port->fd >= 0)
        close(port->fd);
    port->fd = -1;
}
