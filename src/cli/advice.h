/* advice.h - how to go on with a training that has ended early.
 *
 *     a snapshot of this run      the command that goes on from it
 *     none, but it was resumed    the command once more
 *     none                        a word on --snapshot-every
 *
 * The command has every option of the run that changes what is computed or kept, and can be given to a
 * shell as it stands.
 *
 * Where nobody was lost and nothing was saved the mistake is to be mended, and its sentence is enough. */
#ifndef PSD_CLI_ADVICE_H
#define PSD_CLI_ADVICE_H

#include "cli/teamwork.h"

#include <time.h>

struct psd_advice {
    const char *solver, *snapshot; /* as they were given; snapshot: NULL, not given */
    int64_t processes;
    const struct psd_teamwork_options *team;
    const struct psd_compute_options *compute;
    const char *net_outputs;    /* NULL: not given */
    uint64_t snapshot_every_ns; /* 0: not given */
    struct timespec began;      /* psd_advice_now when the job was started */
    bool is_lost;               /* a process was killed, or is gone */
};

/* The time as files have it. */
struct timespec psd_advice_now(void);

/* Tells the log. */
void psd_advice_give(struct psd_log *log, const struct psd_advice *advice);

#endif
