/* pacer.h - a device that is not there: layers and works take their time on it, and compute nothing.
 *
 *     layers   [ conv1 ][ conv2  ]....wait....[ fc6      +rebuild ][ fc7 ]
 *     line     ^0       ^12 ms   ^31 ms       ^ comes    ^ later by as much
 *
 * The line is fixed from where it starts: a thread that wakes up late, because others have the
 * processors, does not stretch it. Only a value that comes late does, and works, which have the device
 * before the layers; both as in comm/cluster.h. What a machine alone also does in an iteration (one
 * local product of each factored layer, one update of each value) is part of the layers' time: only
 * what exceeds it takes time.
 *
 * Layers on one thread, works on any. */
#ifndef PSD_CLI_PACER_H
#define PSD_CLI_PACER_H

#include "comm/work.h"
#include "comm/workload.h"

struct psd_pacer;

/* A device of the workload's speeds, whose parameters the works are of; borrowed until destroy. The
 * caller owns *out. */
psd_status psd_pacer_create(const struct psd_workload *workload, struct psd_pacer **out);
void psd_pacer_destroy(struct psd_pacer *pacer);

/* What the next layer needs has come only now: the line goes on from here. The first call starts it. */
void psd_pacer_stall(struct psd_pacer *pacer);

/* Returns when a layer that takes so long has ended. */
void psd_pacer_layer(struct psd_pacer *pacer, double seconds);

/* Where the line is, on the clock of base/clock.h: the latest layer's end, or a stall after it. */
uint64_t psd_pacer_line(const struct psd_pacer *pacer);

/* A new iteration begins for `param`: what a machine alone does for it is free again. */
void psd_pacer_allow(struct psd_pacer *pacer, size_t param);

/* When a work that is ordered now ends; 0 for one that a device has nothing to do with. The `until`
 * of comm/arithmetic.h; its context is the pacer. */
uint64_t psd_pacer_until(void *pacer, const struct psd_work *work);

/* Seconds that works have taken so far. */
double psd_pacer_worked(struct psd_pacer *pacer);

#endif
