/* link.h - how fast the way out is, and how many threads it takes to fill it.
 *
 * One thread carries 17 Gbit/s in clear and 10 Gbit/s encrypted (docs/net.md, the slowest machine), which
 * fills most links. Where the interface says that it is faster, there are lanes, a stream on each; but at
 * most one for four processors, as the others are there to compute. */
#ifndef PSD_NET_TCP_LINK_H
#define PSD_NET_TCP_LINK_H

#include <stdbool.h>

/* Bits a second of the interface that has the address of this socket; 0: it does not say. */
double psd_link_speed(int fd);

/* Lanes for a link of that speed; 0: the loop suffices. */
unsigned psd_link_lanes(double speed, bool in_clear, unsigned processors);

#endif
