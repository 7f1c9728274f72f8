/* bench_cell.h - measures one cell of "poseidon bench cluster". */
#ifndef PSD_CLI_BENCH_CELL_H
#define PSD_CLI_BENCH_CELL_H

#include "cli/bench.h"
#include "cli/cell.h"

/* What is the same for all cells. */
struct psd_bench_cell {
    struct psd_workload *workload; /* borrowed, as is the next; it has times */
    float *gradients;              /* [psd_emulation_floats] */
    unsigned iterations;
};

/* Measures a cell whose bandwidth, nodes, scheme and dilation are filled in, and fills in the rest. */
psd_status psd_bench_cell_measure(struct psd_bench *bench, const struct psd_bench_cell *what,
                                  struct psd_cell *cell);

#endif
