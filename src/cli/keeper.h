/* keeper.h - a process between us and the members that sees to it that nobody outlives us.
 *
 *     we (the launcher)
 *      |    orders: signals for all  --->
 *      |    <--- news: who has ended, and how
 *     keeper
 *      |- rank 0      a group of its own each: a terminal's Ctrl-C does not reach it
 *      |- rank 1
 *      '- what members leave behind
 *
 * Where we are killed, the keeper sees it by the end of our orders, asks the members to end and kills them
 * a little later, with all their descendants, which become its own when their parents end. Where the
 * keeper is killed, members are killed by the kernel, and their descendants become ours. When the last
 * member ends, so does what members have left behind, and then the keeper. */
#ifndef PSD_CLI_KEEPER_H
#define PSD_CLI_KEEPER_H

#include "base/status.h"

#include <sys/types.h>

enum { PSD_KEEPER_MOST = 128 };

struct psd_keeper_options {
    unsigned count; /* of members, 1 to PSD_KEEPER_MOST */

    /* A member's life: called in the member with all signals blocked, and does not return. */
    void (*live)(void *arg, unsigned rank);

    /* Called in the keeper when all have been started: it closes what is not the keeper's. */
    void (*settle)(void *arg);
    void *arg; /* borrowed for the call */
};

struct psd_keeper {
    pid_t id;
    int link; /* owned; readable: there is news */
};

/* That `rank` has ended with the wait status `state`, or could not be started: errno is `error`. */
struct psd_keeper_news {
    unsigned rank;
    int state, error;
};

enum psd_keeper_hearing { PSD_KEEPER_SILENT, PSD_KEEPER_NEWS, PSD_KEEPER_GONE };

/* Starts the keeper, and it the members. */
psd_status psd_keeper_start(const struct psd_keeper_options *options, struct psd_keeper *out);

/* The next news, of who has ended first; GONE: the keeper has ended. */
enum psd_keeper_hearing psd_keeper_hear(struct psd_keeper *keeper, struct psd_keeper_news *out);

/* Has it send a signal to the groups of all members that live, once. SIGKILL ends all descendants. */
void psd_keeper_order(struct psd_keeper *keeper, int number);

/* Waits for the keeper after its end and returns its wait status; 0 when all went well. */
int psd_keeper_finish(struct psd_keeper *keeper);

#endif
