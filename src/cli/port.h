/* port.h - a port of 127.0.0.1 that one listener can count on, before it listens.
 *
 *     we          socket, bind to the first free one, SO_REUSEADDR ....... close
 *     rank 0               socket, SO_REUSEADDR, bind to it, listen .......
 *     others      who looks for a free one of several binds without SO_REUSEADDR, and passes it over
 *
 * Sockets that do not listen share a port when both have SO_REUSEADDR, which net/tcp sets where it is told
 * to listen at one port and no other. So jobs that are started at the same moment have different ones. Where
 * old connections still fade at all ports of the range, one of these is taken, and another launcher in the
 * same need might take it, too: then rank 0 of one of them says that it is taken. */
#ifndef PSD_CLI_PORT_H
#define PSD_CLI_PORT_H

#include "base/value.h"

struct psd_port {
    int fd; /* owned; it holds the port; -1: none is held */
    uint16_t number;
};

/* Holds the first free port of these until psd_port_release. PSD_ECONFIG: all are taken. */
psd_status psd_port_hold(struct psd_value_ports from, struct psd_port *out);

/* Lets it go; twice is fine. */
void psd_port_release(struct psd_port *port);

#endif
