/* spread.h - many measurements of one thing, in three numbers. */
#ifndef PSD_CLI_SPREAD_H
#define PSD_CLI_SPREAD_H

#include <stddef.h>

enum { PSD_SPREAD_MOST = 1000 }; /* measurements of one thing */

struct psd_spread {
    double median, least, most;
};

/* Of `count` numbers, at least one, which are sorted. */
struct psd_spread psd_spread_of(double *numbers, size_t count);

#endif
