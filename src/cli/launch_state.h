/* launch_state.h - what the files of launch.h share, and nobody else sees.
 *
 *     launch.c            starting, and the loop
 *     launch_member.c     the life of a member
 *     launch_end.c        who has ended, what is told of it, and how the others end
 *     launch_signals.c    what we are asked for is passed on */
#ifndef PSD_CLI_LAUNCH_STATE_H
#define PSD_CLI_LAUNCH_STATE_H

#include "cli/cause.h"
#include "cli/launch.h"
#include "cli/offspring.h"
#include "cli/relay.h"

#include <signal.h>

/* What a member that fails leaves behind. */
struct psd_launch_will {
    psd_status status; /* PSD_OK: nothing */
    char sentence[PSD_LAUNCH_SENTENCE];
};

struct psd_launch {
    const struct psd_launch_options *options; /* borrowed, as is end */
    struct psd_launch_end *end;
    struct psd_launch_will *wills; /* owned, seen by all; by rank */
    struct psd_relay *relay;       /* owned; NULL: members speak for themselves */
    struct pollfd *polls;          /* owned; keeper, signals, and the relay's */
    unsigned n_polls;
    struct psd_keeper keeper;
    struct psd_offspring others; /* children that we had before */

    int signals;         /* owned, readable when there are some; -1: they are not passed on */
    sigset_t mask, sent; /* what was blocked before us; what members got from us */
    bool is_asked;       /* to end, by a signal: who ends does as it should */
    bool is_interrupted; /* a second time: all are killed */

    struct psd_cause cause;
    unsigned n_ended;  /* members */
    bool has_told;     /* what a member had to say */
    bool is_ending;    /* what members do now is our doing */
    bool is_gone;      /* the keeper, and so all members */
    bool is_over;      /* nothing is left to do */
    uint64_t wake_at;  /* when SIGCONT is due */
    uint64_t act_at;   /* when SIGTERM, or SIGKILL, is due */
    psd_status status; /* of starting and watching */
};

/* For the keeper, whose arg is the launch. */
void psd_launch_live(void *launch, unsigned rank);
void psd_launch_settle(void *launch);

/* Takes in what the keeper has to say. */
void psd_launch_hear(struct psd_launch *launch);

/* A failure of ours: there is no use in waiting for members. */
void psd_launch_give_up(struct psd_launch *launch, psd_status status);

/* Lets members go on that are stopped: who is missed may be one of them, and ends when it hears of it. */
void psd_launch_wake(struct psd_launch *launch);

/* Ends the members: SIGTERM first, and with the next call SIGKILL. */
void psd_launch_press(struct psd_launch *launch);

/* Signals come to us here, until they are given their usual meaning back. */
psd_status psd_launch_take_signals(struct psd_launch *launch);
void psd_launch_leave_signals(struct psd_launch *launch);
void psd_launch_pass_signals(struct psd_launch *launch);

#endif
