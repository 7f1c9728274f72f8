/* relay.h - what members say, in whole lines with the rank before each.
 *
 *     rank 0    stdout, stderr are ours
 *     rank 1    stdout ==pipe==> "loss 3\nlo"  --> "1: loss 3\n" --> our stdout
 *     rank 2    stderr ==pipe==> "bad file\n"  --> "2: bad file\n" --> our stderr
 *
 * A line is written at once, so lines do not mix, not even with those of rank 0. One without an end is
 * completed when its member has ended, and one of more than four thousand bytes becomes several. Nothing
 * blocks: what our own output does not take yet waits in the pipes; and where it is closed, so are the
 * pipes, as if the members wrote there themselves. One thread. */
#ifndef PSD_CLI_RELAY_H
#define PSD_CLI_RELAY_H

#include "base/status.h"

#include <poll.h>
#include <stdbool.h>

struct psd_relay;

struct psd_relay_options {
    unsigned count; /* of members, 1 to a few hundred */
    int out, err;   /* where lines go to; borrowed for the call */

    /* Rank 0 has a live line (screen.h) where err is a terminal: a line of others takes its place. */
    bool over_status;
};

/* Makes the pipes, before the members start. The caller owns *out. */
psd_status psd_relay_open(const struct psd_relay_options *options, struct psd_relay **out);
void psd_relay_close(struct psd_relay *relay);

/* In a member: makes standard output and error those of `rank`, and closes what belongs to others. */
psd_status psd_relay_enter(struct psd_relay *relay, unsigned rank);

/* With us, once all members have started. */
void psd_relay_begin(struct psd_relay *relay);

/* Writes what to wait for into polls[0] to polls[psd_relay_polls(relay) - 1]. */
unsigned psd_relay_polls(const struct psd_relay *relay);
void psd_relay_watch(const struct psd_relay *relay, struct pollfd *polls);

/* Passes on what is there, after these have been waited for. */
void psd_relay_move(struct psd_relay *relay, const struct pollfd *polls);

/* Passes on what `rank` has said so far, as far as our output takes it. */
void psd_relay_hear(struct psd_relay *relay, unsigned rank);

/* Whether all pipes have ended and everything is written. */
bool psd_relay_is_done(const struct psd_relay *relay);

#endif
