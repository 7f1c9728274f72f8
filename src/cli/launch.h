/* launch.h - processes of one job on this machine: started, listened to, and ended together.
 *
 *     we                          keeper (keeper.h)            members
 *     Ctrl-C, SIGTERM, SIGHUP --> signals -------------------> each gets each of them once
 *     lines with ranks <-------------------------------------- what ranks above 0 say (relay.h)
 *     exit code, sentence <------ who has ended, and how <----
 *     SIGCONT, SIGTERM, SIGKILL > signals -------------------> after the first failure
 *
 * A member is a copy of this process as it is, which may go on to execute a program. Copies have no thread
 * but the one that forks, so none may exist. However we end, members end with us, and all they have
 * started. */
#ifndef PSD_CLI_LAUNCH_H
#define PSD_CLI_LAUNCH_H

#include "base/status.h"
#include "cli/keeper.h"

#include <stdbool.h>
#include <stdint.h>

enum { PSD_LAUNCH_MOST = PSD_KEEPER_MOST, PSD_LAUNCH_SENTENCE = 2000 };

struct psd_launch_options {
    unsigned count; /* 1 to PSD_LAUNCH_MOST */

    /* The life of a member, in the member. It ends with *exit_code, which is 0 before the call. After a
     * failure it ends with 1, unless *exit_code says otherwise, and we tell its sentence. */
    psd_status (*live)(void *arg, unsigned rank, int *exit_code);
    void *arg; /* borrowed for the call */

    /* After the first failure others have so long to end by themselves; then they get SIGTERM, and two
     * seconds later SIGKILL. A second after PSD_EPEER or PSD_ETIMEOUT they get SIGCONT: who was missed may
     * be stopped, and then learns that it is alone. */
    uint64_t grace_ns;

    /* Ranks above 0 speak in lines with their rank before each, and only rank 0 has our standard input,
     * unless that is a terminal. With over_status lines take the place of a live line (screen.h). */
    bool relays, over_status;

    /* SIGINT, SIGTERM and SIGHUP, and being stopped and continued, are passed on. After SIGINT or SIGTERM
     * members take the time they need to end; a second SIGINT kills them, unless with passes_every_int,
     * for those that take it for something else. Without passes_signals they have their usual effect on
     * us. */
    bool passes_signals, passes_every_int;

    psd_status (*watch)(
        void *arg); /* with us, every few milliseconds; its failure ends all; or NULL */
    void (*tell)(void *arg, const char *sentence); /* a person, what has happened; NULL: nobody */
};

/* What came of it. */
struct psd_launch_end {
    int exit_code;     /* of the first cause: a member's, or 128 and its signal; 0: all went well */
    unsigned rank;     /* whose */
    psd_status status; /* what it has failed with; PSD_EPEER: it said nothing, or was killed */
    bool is_own;       /* the sentence is the member's own; else it is ours */
    char sentence[PSD_LAUNCH_SENTENCE];
};

/* Starts the members and returns when all have ended. A failure is that of starting them, and of watch. */
psd_status psd_launch_run(const struct psd_launch_options *options, struct psd_launch_end *end);

#endif
