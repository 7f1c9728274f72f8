/* chorus.h - one member adds up gradients with the others, again and again, and nothing else.
 *
 *     fill | barrier, barrier | begin, sync all, wait for all | barrier | check
 *                   ^ busy    ^ begin_ns                      ^ end_ns  ^ busy
 *
 * In sum mode and in place: what is sent is where the sum comes back. Every sum is checked, number by
 * number, outside of the time that is measured. bench/peers/rank.py measures others in the same way. */
#ifndef PSD_CLI_CHORUS_H
#define PSD_CLI_CHORUS_H

#include "cli/busy.h"
#include "cli/spread.h"
#include "poseidon/comm.h"

enum { PSD_CHORUS_WARM = 3 }; /* sums before those that are measured */

struct psd_chorus {
    struct psd_comm_options seat; /* its mode is set here */
    const size_t *counts;         /* borrowed; [n_params]: values of each, in forward order */
    size_t n_params;
    unsigned times; /* that are measured, up to PSD_SPREAD_MOST */

    /* Called once, between start and the first time; NULL: nothing is. */
    psd_status (*ready)(void *context);
    void *context;
};

struct psd_chorus_result {
    uint64_t begin_ns[PSD_SPREAD_MOST], end_ns[PSD_SPREAD_MOST]; /* on the machine's clock */
    struct psd_busy busy; /* in these times and the barriers around them, together */
};

/* PSD_EPEER: a sum is wrong. */
psd_status psd_chorus_run(const struct psd_chorus *chorus, struct psd_chorus_result *out);

/* The number that `rank` gives at `index`, and what all below `ranks` add up to: exact in a float. */
float psd_chorus_gives(unsigned rank, size_t index);
float psd_chorus_sum(unsigned ranks, size_t index);

#endif
