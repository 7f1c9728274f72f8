/* port.c - a socket that is bound and never listens. */
#include "cli/port.h"
#include "net/tcp/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Any free port. SO_REUSEADDR comes after bind, so that nobody else has it already. */
static bool take(struct psd_port *out)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&name, sizeof name) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        getsockname(fd, (struct sockaddr *)&name, &size) == 0) {
        *out = (struct psd_port){.fd = fd, .number = ntohs(name.sin_port)};
        return true;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return false;
}

static bool is_looked_for(uint16_t number)
{
    return number >= PSD_TCP_PORT && number < PSD_TCP_PORT + PSD_TCP_PORTS;
}

/* Those of the range are held until another is found, or the kernel might give the same again. Where
 * the kernel has nothing else to give they are many, so the depth is limited. */
static psd_status search(unsigned depth, struct psd_port *out)
{
    struct psd_port port;

    if (!take(&port))
        return psd_fail(PSD_ECONFIG, "find a free port of 127.0.0.1: %s", strerrordesc_np(errno));
    if (!is_looked_for(port.number) || depth == 0) {
        *out = port;
        return PSD_OK;
    }
    psd_status status = search(depth - 1, out);
    psd_port_release(&port);
    return status;
}

psd_status psd_port_hold(struct psd_port *out)
{
    return search(100, out);
}

void psd_port_release(struct psd_port *port)
{
    if (port->fd >= 0)
        close(port->fd);
    port->fd = -1;
}
