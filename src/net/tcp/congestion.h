/* congestion.h - how a socket finds out how fast it may send: the kernel's congestion controls.
 *
 * Members send to all others at the same time, and the slowest of these flows is what an iteration waits
 * for. BBR, which some systems have for the way to far-off users, nearly stops each flow for 0.2 s every
 * ten seconds to measure how long the empty way takes, and shares a link between flows less evenly. So
 * where it is the system's, cubic is taken instead, or reno, which everybody may take; any other choice
 * of the system's stays.
 *
 * It is taken before a socket connects, and by the one that listens for those that it accepts. A connection
 * that BBR has begun is paced by a timer for each packet for as long as it lives, whoever takes over. */
#ifndef PSD_NET_TCP_CONGESTION_H
#define PSD_NET_TCP_CONGESTION_H

#include "poseidon/status.h"

enum { PSD_CONGESTION_NAME = 16 }; /* bytes of the longest name, with the zero behind it */

/* PSD_ECONFIG: the kernel does not have `name`, or not for us. */
psd_status psd_congestion_check(const char *name);

/* Gives a socket the control `name`, or with "" the one that is best as said above. A socket that is not
 * TCP's, or to which the kernel refuses it, stays as it is. */
void psd_congestion_choose(int fd, const char *name);

#endif
