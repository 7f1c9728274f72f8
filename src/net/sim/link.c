/* link.c - moments in whole nanoseconds, and what is left of one. */
#include "net/sim/link.h"

#include <math.h>

void psd_sim_link_set(struct psd_sim_link *link, double bandwidth)
{
    link->ns_per_byte = bandwidth > 0 ? 1e9 / bandwidth : 0;
}

struct psd_sim_slot psd_sim_link_take(struct psd_sim_link *link, uint64_t now_ns, size_t bytes)
{
    static const double longest =
        0x1p60; /* ns, 36 years: a frame that never ends in a clock's life */
    struct psd_sim_slot slot = {.start_ns = link->free_ns};

    if (now_ns > link->free_ns) {
        slot.start_ns = now_ns;
        link->rest = 0;
    }
    double length = fmin((double)bytes * link->ns_per_byte + link->rest, longest);
    uint64_t whole = (uint64_t)length;
    link->rest = length - (double)whole;
    link->free_ns = slot.end_ns = slot.start_ns + whole;
    return slot;
}
