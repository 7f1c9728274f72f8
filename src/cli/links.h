/* links.h - how the members of a benchmark reach each other.
 *
 *     with root       namespaces whose links are shaped (netns.h)
 *     else, or asked  loopback: as fast as it goes, for all members together
 *
 * One thread. */
#ifndef PSD_CLI_LINKS_H
#define PSD_CLI_LINKS_H

#include "cli/goodput.h"
#include "cli/netns.h"
#include "cli/port.h"

#include <stdbool.h>

struct psd_links {
    struct psd_netns *netns; /* owned; NULL: loopback */
    struct psd_port port;    /* of the coordinator, held on loopback */
    char why[300];           /* why it is loopback though nobody asked for it; "": somebody did */
};

/* Members below `count` get their places. With `loopback` nothing is made. Where we may make no
 * namespaces it is loopback, too, and `why` says so. */
psd_status psd_links_open(unsigned count, bool loopback, struct psd_links *out);
void psd_links_close(struct psd_links *links);

/* Shapes every link to `rate` bytes a second each way; 0: as fast as it goes. Loopback stays what it
 * is. */
psd_status psd_links_shape(struct psd_links *links, double rate);

/* What one stream gets through them as they are. */
psd_status psd_links_measure(const struct psd_links *links, struct psd_goodput *out);

/* Puts this process into the place of a member; for members.h, whose `place` is the links. */
psd_status psd_links_enter(const void *links, unsigned member);

/* Writes where `member` listens: an address without a port. Returns `out`. */
const char *psd_links_address(const struct psd_links *links, unsigned member, char *out,
                              size_t size);

/* Writes where member 0 is to be found by all, such as "tcp://10.77.0.1:7070". On loopback it has one of
 * `ports`, which is held for it until the next call or close. */
psd_status psd_links_coordinator(struct psd_links *links, struct psd_value_ports ports, char *out,
                                 size_t size);

#endif
