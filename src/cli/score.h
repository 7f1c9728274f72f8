/* score.h - sums of one size on so many nodes, measured, as a row for people and for programs. */
#ifndef PSD_CLI_SCORE_H
#define PSD_CLI_SCORE_H

#include "cli/busy.h"
#include "cli/goodput.h"
#include "cli/spread.h"

#include <stdio.h>

struct psd_score {
    double bandwidth; /* bytes a second; 0: loopback */
    unsigned nodes;
    const char *name;     /* of the net; "": bytes were given */
    const size_t *counts; /* borrowed; [n_params] values of each parameter */
    size_t n_params;
    double bytes; /* of all */

    unsigned times;
    struct psd_goodput goodput;
    struct psd_spread time;
    struct psd_busy busy; /* meanwhile, of the machine, and of all members together */
};

/* Seconds that nothing can be faster than: 2(P-1)/P of the bytes at the speed of the goodput. */
double psd_score_bound(const struct psd_score *score);

/* "network" or "cores": what keeps sums from being faster, on a machine of so many processors; "-": a node
 * alone sends nothing. */
const char *psd_score_limit(const struct psd_score *score, unsigned processors);

void psd_score_head(FILE *out);
void psd_score_row(FILE *out, const struct psd_score *score);
void psd_score_csv_head(FILE *out);
void psd_score_csv_row(FILE *out, const struct psd_score *score);

#endif
