/* cell.h - one measured cluster, as a row for people and for programs. */
#ifndef PSD_CLI_CELL_H
#define PSD_CLI_CELL_H

#include "cli/bound.h"
#include "cli/busy.h"
#include "cli/goodput.h"
#include "cli/spread.h"
#include "comm/scheme.h"

#include <stdio.h>

struct psd_cell {
    double bandwidth; /* bytes a second that a link is shaped to, before dilation; 0: loopback */
    unsigned nodes;
    enum psd_scheme scheme;
    unsigned dilate;            /* compute and network are so many times slower */
    struct psd_goodput goodput; /* of the dilated link */
    struct psd_bound bound;     /* of what follows, all that are times are not dilated */
    struct psd_spread iteration;
    double sent;          /* bytes of a member in an iteration, mean */
    double all_sent;      /* by all members while measuring */
    struct psd_busy busy; /* meanwhile, dilated; of the machine, and of all members together */
    double simulated_s;   /* of the same cluster, simulated */
    bool too_busy;        /* the processors, even most dilated: only what is simulated counts */
};

/* "compute", "network" or "cores": what keeps an iteration from being shorter, on a machine of so many
 * processors. */
const char *psd_cell_limit(const struct psd_cell *cell, unsigned processors);

void psd_cell_table_head(FILE *out);
void psd_cell_table_row(FILE *out, const struct psd_cell *cell);
void psd_cell_csv_head(FILE *out);
void psd_cell_csv_row(FILE *out, const char *model, size_t batch, const struct psd_cell *cell);

#endif
