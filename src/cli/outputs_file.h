/* outputs_file.h - what a training shows, as tables for other programs.
 *
 *     PREFIX.netoutputs            Iteration,time,loss,<outputs>     the training net, each display
 *     PREFIX.test0.netoutputs      the same of a test net, each test
 *
 * A row is in the file as soon as it is shown. Seconds count from the start of the program. A training
 * that goes on from a snapshot goes on with its files, in which each iteration then stands once. */
#ifndef PSD_CLI_OUTPUTS_FILE_H
#define PSD_CLI_OUTPUTS_FILE_H

#include "engine/solver.h"

struct psd_outputs_file;

/* `prefix` is copied. PSD_ECONFIG: the file of the training net cannot be written. */
psd_status psd_outputs_file_open(const char *prefix, bool goes_on, struct psd_log *log,
                                 struct psd_outputs_file **out);

/* Once, before the first row: training goes on from this iteration. What files that go on have of it and
 * of later ones is dropped. */
psd_status psd_outputs_file_go_on(struct psd_outputs_file *file, int64_t iteration);

void psd_outputs_file_close(struct psd_outputs_file *file);

/* Adds a row. A file that cannot be written is warned of once. */
void psd_outputs_file_add(struct psd_outputs_file *file, const struct psd_solver_row *row);

#endif
