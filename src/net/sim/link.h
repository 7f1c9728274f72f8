/* link.h - one direction of a member's link: frames go through it one after the other.
 *
 *     take(100 bytes)  |======|                    a free link begins at once,
 *     take(200 bytes)         |============|       a busy one when it is free again
 *                      ^      ^            ^ free
 *
 * Nothing is kept but the moment when it is free again, so a frame costs a few additions. What is
 * less than a nanosecond is carried on to the next frame of a busy link: many small frames take as
 * long as one of all their bytes. */
#ifndef PSD_NET_SIM_LINK_H
#define PSD_NET_SIM_LINK_H

#include <stddef.h>
#include <stdint.h>

struct psd_sim_link {
    double ns_per_byte; /* 0: no limit */
    uint64_t free_ns;   /* when what was given to it has passed */
    double rest;        /* of a nanosecond that has passed by then, too */
};

/* What the link gives a frame. */
struct psd_sim_slot {
    uint64_t start_ns, end_ns;
};

/* Sets the bandwidth, in bytes a second, 0: no limit, for frames from now on. */
void psd_sim_link_set(struct psd_sim_link *link, double bandwidth);

/* Lets `bytes` that are there at `now_ns` go through. */
struct psd_sim_slot psd_sim_link_take(struct psd_sim_link *link, uint64_t now_ns, size_t bytes);

#endif
