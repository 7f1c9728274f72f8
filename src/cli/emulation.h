/* emulation.h - one member trains a net that it does not have.
 *
 *     forward   wait(conv1) | conv1 | wait(conv2) | conv2 | ... fc8 |
 *     backward  | fc8 | sync(fc8) | ... | conv1 | sync(conv1)              | : slept, on a line (pacer.h)
 *
 * Compute takes its time and computes nothing; gradients, factors and what becomes of them travel as
 * in training. The same program on a virtual clock is comm/timeline.h. */
#ifndef PSD_CLI_EMULATION_H
#define PSD_CLI_EMULATION_H

#include "cli/busy.h"
#include "cli/spread.h"
#include "comm/job.h"
#include "comm/workload.h"

enum { PSD_EMULATION_WARM = 3 }; /* iterations before those that are measured */

struct psd_emulation {
    const struct psd_workload *workload; /* borrowed, as is all here; its times are slept */
    const struct psd_job *job;    /* planned: forms and routes of the workload's parameters */
    struct psd_comm_options seat; /* coordinator, key, rank and so on; ranks are the job's */
    float *gradients;             /* [psd_emulation_floats]; the library may write to them */
    unsigned iterations;          /* up to PSD_SPREAD_MOST */
    bool no_overlap; /* all is synced after the whole backward and awaited before forward */
    bool real;       /* rebuilding and updating are done; else slept at the workload's speeds */

    /* Called once, between start and the first iteration; NULL: nothing is. */
    psd_status (*ready)(void *context);
    void *context;
};

struct psd_emulation_result {
    double times[PSD_SPREAD_MOST]; /* seconds of each iteration, from start to start */
    struct psd_busy busy;          /* meanwhile */
    double sent;                   /* bytes, meanwhile */
    double worked_s;               /* that slept works had the device, meanwhile */
    uint64_t digest;               /* of the values at the end */
};

/* How many floats the gradients of a workload need: all values, and the largest factor. */
size_t psd_emulation_floats(const struct psd_workload *workload);

/* Takes the seat, trains and leaves. */
psd_status psd_emulation_run(const struct psd_emulation *emulation,
                             struct psd_emulation_result *out);

#endif
