/* signals.h - what a person or a scheduler asks of a training run, by signals.
 *
 *     SIGINT   Ctrl-C          stop after a snapshot; a second one ends the program at once
 *     SIGHUP                   snapshot, and go on
 *     SIGTERM  a scheduler     stop after a snapshot, with exit code 75: please start me again;
 *                              another one, a second later or more, ends the program at once
 *
 * Before the first iteration there is nothing to save, and SIGTERM ends the program at once, with the same
 * exit code; the others have their usual meaning.
 *
 * The solver asks between iterations, so whatever is asked for happens at a whole one. There is one
 * set of signals in a process, and so one state here. */
#ifndef PSD_CLI_SIGNALS_H
#define PSD_CLI_SIGNALS_H

#include "engine/solver.h"

/* What SIGINT and SIGHUP do can be chosen, in Caffe's words. */
enum psd_signals_effect {
    PSD_SIGNALS_STOP,
    PSD_SIGNALS_SNAPSHOT,
    PSD_SIGNALS_NONE,
};
extern const char *const psd_signals_effects[]; /* "stop", "snapshot", "none", NULL */

/* From here on SIGTERM ends the program with exit code 75. */
void psd_signals_begin(void);

/* From here on signals are noted; psd_signals_end gives them their usual meaning back. */
void psd_signals_start(enum psd_signals_effect at_int, enum psd_signals_effect at_hup);
void psd_signals_end(void);

/* What has been asked for since the last call; stopping comes before a snapshot. The context is not
 * used: this is an action of psd_solver_options. */
enum psd_solver_action psd_signals_action(void *context);

/* Whether SIGTERM has come. */
bool psd_signals_terminated(void);

#endif
