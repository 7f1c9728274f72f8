/* sweep_axes.h - what a sweep combines, as somebody writes it: --nodes 1,2,4 --bandwidth 10Gbit. */
#ifndef PSD_CLI_SWEEP_AXES_H
#define PSD_CLI_SWEEP_AXES_H

#include "cli/cli.h"
#include "cli/sweep.h"

/* Reads three lists, each NULL for the usual or ending with NULL. A misuse: an element makes no
 * sense, or there are too many. */
psd_status psd_sweep_axes_read(struct psd_cli *cli, char *const *nodes, char *const *bandwidths,
                               char *const *schemes, struct psd_sweep_axes *out);

#endif
