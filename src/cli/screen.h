/* screen.h - standard error: lines of the log and, on a terminal, a live line below them.
 *
 *     Iteration 300, lr = 0.0098
 *     iteration 341 of 6000   loss 0.432   15210 images/s   0:00:24 left    <- redrawn in its place
 *
 * A line of the log takes the place of the live line, which comes back with the next status; so what
 * scrolls by is the log alone. Where standard error is no terminal there is never a live line.
 * Any thread. */
#ifndef PSD_CLI_SCREEN_H
#define PSD_CLI_SCREEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct psd_screen {
    FILE *err; /* borrowed until fini */
    bool live; /* it is a terminal */

    pthread_mutex_t lock; /* guards what follows, and writing to err */
    bool drawn;           /* there is a live line to be cleared */
    uint64_t next;        /* when it may be drawn again */
};

/* What clears the line of the terminal where the cursor is, and takes the cursor to its beginning. */
extern const char psd_screen_erase[];

void psd_screen_init(struct psd_screen *screen, FILE *err);

/* Clears the live line. */
void psd_screen_fini(struct psd_screen *screen);

/* Writes a whole line; a sink for psd_log_init, whose context is the screen. */
void psd_screen_write(void *screen, const char *line, size_t length);

/* Whether a status would be shown now: there is a terminal, and the last status is a tenth of a
 * second old. */
bool psd_screen_wants_status(struct psd_screen *screen);

/* Shows `text`, of one line, as the live line; cut to the width of the terminal. */
void psd_screen_status(struct psd_screen *screen, const char *text);

/* Takes the live line away. */
void psd_screen_clear(struct psd_screen *screen);

#endif
