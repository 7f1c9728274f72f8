/* cores.h - the processors of this machine, divided among the processes of a job.
 *
 *     we may run on      0 1 2 3 4 5 6 7
 *     in their order     0 4 | 1 5 | 2 6 | 3 7      where a core has two of them, they are neighbours
 *     for 3 processes    0 4 1 | 5 2 6 | 3 7
 *
 * Only the thread that calls is bound, and what it starts afterwards. Any thread. */
#ifndef PSD_CLI_CORES_H
#define PSD_CLI_CORES_H

#include "base/status.h"

enum { PSD_CORES_MOST = 1024 }; /* as many as a cpu_set_t has */

/* A processor as the system counts them, and where it is; numbers, -1 where they are not told. */
struct psd_core {
    unsigned id;
    int package, core;
};

struct psd_cores {
    unsigned count; /* 0: the system does not tell */
    struct psd_core list[PSD_CORES_MOST];
};

/* The processors that this thread may run on, in their order. */
void psd_cores_read(struct psd_cores *out);

/* Puts them into their order: by package, core and id. */
void psd_cores_sort(struct psd_cores *cores);

/* Writes the share of `rank` among `ranks` processes: neighbours, each in one share, and no share has two
 * more than another. With fewer processors than processes all have all of them. */
void psd_cores_divide(const struct psd_cores *cores, unsigned rank, unsigned ranks,
                      struct psd_cores *out);

/* Lets this thread run on these alone. */
psd_status psd_cores_bind(const struct psd_cores *cores);

#endif
