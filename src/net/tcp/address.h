/* address.h - texts such as "10.0.0.5:7071" and the sockets' addresses behind them.
 *
 *     10.0.0.5:7071          a port              host may be a numeric IPv4 address,
 *     10.0.0.5:7071-7099     a range             a numeric IPv6 address in brackets, [fe80::1],
 *     10.0.0.5               7070 to 8093        a name, or nothing
 *
 * Names are looked up with the system's resolver, which may block for seconds; numeric addresses never
 * do. Any thread. */
#ifndef PSD_NET_TCP_ADDRESS_H
#define PSD_NET_TCP_ADDRESS_H

#include "poseidon/status.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    PSD_TCP_PORT = 7070,  /* the first that is tried where none is named, */
    PSD_TCP_PORTS = 1024, /* of so many */
    PSD_TCP_TEXT = 80 /* bytes of the longest numeric address with its port, and the zero behind */
};

/* A socket's address. */
union psd_tcp_name {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* A host and the ports of a text. */
struct psd_tcp_address {
    union psd_tcp_name name; /* its port is unset; the family is AF_UNSPEC where there is no host */
    uint16_t first, last;    /* ports; the same where only one is meant */
};

/* Where a member can be: host and port or range. PSD_ECONFIG: this is no address, or nobody knows
 * the name. */
psd_status psd_tcp_address_read(const char *text, struct psd_tcp_address *out);

/* The address of ours from which `peer` is reached, without a port; nothing is sent. */
psd_status psd_tcp_address_towards(const char *peer, union psd_tcp_name *out);

socklen_t psd_tcp_name_size(const union psd_tcp_name *name);
uint16_t psd_tcp_name_port(const union psd_tcp_name *name);
void psd_tcp_name_set_port(union psd_tcp_name *name, uint16_t port);

bool psd_tcp_name_is_same_host(const union psd_tcp_name *a, const union psd_tcp_name *b);

/* Whether the host of `text` is written as a loopback address in numbers, so that nothing that is sent
 * there leaves the machine. Nothing is looked up. */
bool psd_tcp_address_is_loopback(const char *text);

/* Whether it means every address of the machine, 0.0.0.0 or [::]. */
bool psd_tcp_name_is_any(const union psd_tcp_name *name);

/* "10.0.0.5:7071"; with port 0 only the host. */
void psd_tcp_name_write(const union psd_tcp_name *name, char out[PSD_TCP_TEXT]);

#endif
