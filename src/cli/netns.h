/* netns.h - a small network of this machine's own: namespaces joined by a bridge, with shaped links.
 *
 *     namespace of member 0        namespace of the bridge        namespace of member 1
 *     10.77.0.1  eth0 ============ p0 ------ br0 ------ p1 ============ eth0  10.77.0.2
 *                 ^ tbf            ^ tbf                ^ tbf             ^ tbf
 *                 up               down                 down              up
 *
 * A link is shaped at both ends, each way for itself. The namespaces have no names: they exist as long
 * as we, or members inside, hold them, so nothing is left behind, however we end. It takes root, and the
 * programs ip and tc. One thread. */
#ifndef PSD_CLI_NETNS_H
#define PSD_CLI_NETNS_H

#include "base/status.h"

#include <stddef.h>

struct psd_netns;

/* Makes the network of `count` members, 1 to 250, whose links are not shaped. The caller owns *out.
 * PSD_ENOSUP: we may not; PSD_ECONFIG: ip or tc is missing or fails. */
psd_status psd_netns_open(unsigned count, struct psd_netns **out);

/* Gives it up; it goes when its last member has ended. NULL is fine. */
void psd_netns_close(struct psd_netns *netns);

/* Shapes every link to `rate` bytes a second each way; 0: as fast as it goes. */
psd_status psd_netns_shape(struct psd_netns *netns, double rate);

/* Moves this thread into the namespace of `member`, for good. */
psd_status psd_netns_enter(const struct psd_netns *netns, unsigned member);

/* Writes the address of `member`, such as "10.77.0.1", and returns `out`. */
const char *psd_netns_address(unsigned member, char *out, size_t size);

/* The bucket that a link of `rate` bytes a second needs, in bytes: the kernel fills it by its timer. */
double psd_netns_burst(double rate);

#endif
