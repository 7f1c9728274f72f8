/* sweep.h - simulations of one model: every bandwidth, number of nodes and scheme.
 *
 *     bandwidths  2Gbit        10Gbit ...
 *     nodes       1   2   4    1   2   4
 *     schemes     a b a b a b  a b a b a b      a point each, in this order
 *
 * Each point is a cluster of its own, simulated from the same seed. One thread. */
#ifndef PSD_CLI_SWEEP_H
#define PSD_CLI_SWEEP_H

#include "comm/scheme.h"
#include "comm/timeline.h"

#include <stdio.h>

struct psd_sweep_point {
    double bandwidth; /* bytes a second */
    unsigned nodes;
    enum psd_scheme scheme;
    struct psd_timeline_result result; /* all zero until it is simulated */
};

struct psd_sweep {
    const struct psd_workload *workload; /* borrowed; it has times */
    double latency, delay;               /* seconds; delay: drawn up to this for each message */
    unsigned iterations;
    uint64_t seed;
    struct psd_sweep_point *points; /* owned */
    size_t count;
    size_t schemes, nodes; /* points that differ in the scheme alone; in nodes and scheme alone */
};

enum { PSD_SWEEP_MOST = 64 }; /* bandwidths, or numbers of nodes */

/* What is combined, each once; nodes are rising. */
struct psd_sweep_axes {
    double bandwidths[PSD_SWEEP_MOST];
    size_t n_bandwidths;
    unsigned nodes[PSD_SWEEP_MOST];
    size_t n_nodes;
    enum psd_scheme schemes[PSD_SCHEMES];
    size_t n_schemes;
};

/* Makes the points of a sweep whose first fields the caller has filled in. */
psd_status psd_sweep_init(struct psd_sweep *sweep, const struct psd_sweep_axes *axes);
void psd_sweep_fini(struct psd_sweep *sweep);

/* Simulates one of them. */
psd_status psd_sweep_run(const struct psd_sweep *sweep, struct psd_sweep_point *point);

/* How many times as fast as one node the cluster computes; 0: it is not simulated. */
double psd_sweep_speedup(const struct psd_sweep_point *point);

/* A table for people, and a line of comma-separated values for each point; both begin with a head. */
void psd_sweep_table_head(FILE *out);
void psd_sweep_table_row(FILE *out, const struct psd_sweep_point *point);
void psd_sweep_csv_head(FILE *out);
void psd_sweep_csv_row(FILE *out, const struct psd_sweep *sweep,
                       const struct psd_sweep_point *point);

/* Writes a plot of all points that are simulated: speed-ups over nodes, a panel for each bandwidth. */
psd_status psd_sweep_plot(const struct psd_sweep *sweep, const char *path);

#endif
