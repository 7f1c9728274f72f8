/* bench_members.h - the members of one measured job: they start, meet, and go when all links are shaped.
 *
 *     we                                        members
 *     links are free
 *     members start --------------------------> seats are taken, values equal
 *     are all ready? links are shaped <-------- psd_bench_members_ready
 *     go -------------------------------------> iterations --> results, which we read
 */
#ifndef PSD_CLI_BENCH_MEMBERS_H
#define PSD_CLI_BENCH_MEMBERS_H

#include "cli/bench.h"

struct psd_bench_board; /* what all processes see */

struct psd_bench_members {
    struct psd_bench *bench; /* borrowed */
    unsigned nodes;
    double rate;        /* that links are shaped to; 0: they stay free */
    size_t result_size; /* bytes of what a member finds */

    /* Runs in each member, in its place on the network. */
    psd_status (*run)(void *arg, unsigned rank);
    void *arg;

    /* Filled in. */
    char coordinator[64];
    struct psd_bench_board *board; /* owned */
};

/* Returns when all have ended well, or one has failed. Links stay shaped. */
psd_status psd_bench_members_run(struct psd_bench_members *members);

/* What member `rank` has found, in memory that it shares with us; until fini. */
void *psd_bench_members_result(const struct psd_bench_members *members, unsigned rank);

void psd_bench_members_fini(struct psd_bench_members *members);

/* In a member, which is one of `members`: waits until all have come here, and their links are shaped. */
psd_status psd_bench_members_ready(void *members);

/* In a member: the options of its seat. */
psd_status psd_bench_members_seat(struct psd_bench_members *members, unsigned rank,
                                  struct psd_comm_options *out);

#endif
