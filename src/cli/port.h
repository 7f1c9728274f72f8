/* port.h - a port of 127.0.0.1 that one listener can count on, before it listens.
 *
 *     we          socket, bind to any free port, SO_REUSEADDR ............ close
 *     rank 0               socket, SO_REUSEADDR, bind to it, listen .......
 *     others      the kernel gives it to nobody who asks for any free port
 *
 * Sockets that do not listen share a port when both have SO_REUSEADDR, and net/tcp sets it where it
 * listens. It lies outside of the range where members look for a port themselves, so that nobody comes
 * upon it by chance: jobs that are started at the same moment have different ones. */
#ifndef PSD_CLI_PORT_H
#define PSD_CLI_PORT_H

#include "base/status.h"

#include <stdint.h>

struct psd_port {
    int fd; /* owned; it holds the port; -1: none is held */
    uint16_t number;
};

/* Holds a port until psd_port_release. */
psd_status psd_port_hold(struct psd_port *out);

/* Lets it go; twice is fine. */
void psd_port_release(struct psd_port *port);

#endif
