/* outlet.h - an output of ours that many speak through: a whole line at a time, and nobody waits.
 *
 *     say "1: loss 3\n" ---> [ one line ] ---> terminal, pipe, file
 *                            is_full: it is not taken yet; flush when it can be
 *
 * A line is written at once, so that it is not mixed with what others write there. One thread. */
#ifndef PSD_CLI_OUTLET_H
#define PSD_CLI_OUTLET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A write of so many bytes to a pipe is never mixed with another's; a text leaves room for what is
 * added to it. */
enum { PSD_OUTLET_LINE = PIPE_BUF, PSD_OUTLET_TEXT = PSD_OUTLET_LINE - 32 };

struct psd_outlet {
    int fd;       /* owned; -1: nobody reads it any more */
    bool clears;  /* a line takes the place of a live line (screen.h) */
    bool is_full; /* wait for fd before anything else is said */
    size_t length, written;
    char line[PSD_OUTLET_LINE];
};

/* Opens the output behind `fd`, which is borrowed for the call. `over_status`: where it is a terminal, it
 * has a live line. */
void psd_outlet_open(int fd, bool over_status, struct psd_outlet *out);
void psd_outlet_close(struct psd_outlet *outlet);

/* Says up to PSD_OUTLET_TEXT bytes as a line of `rank`; not while the outlet is full. */
void psd_outlet_say(struct psd_outlet *outlet, unsigned rank, const char *text, size_t length);

/* Writes as much as can be written now. */
void psd_outlet_flush(struct psd_outlet *outlet);

#endif
