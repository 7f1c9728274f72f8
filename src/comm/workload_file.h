/* workload_file.h - a model's description: a text from which its workload is read.
 *
 *     model alexnet batch 256
 *     conv  conv1    96    3  11x11  55x55  bias       outputs, inputs, kernel, size of the output
 *     fc    fc6    4096 9216  bias                     outputs, inputs
 *     layer embed     0                                multiply-adds for a sample, and
 *     param embed[0]  50000x300                        its parameters, rows x columns
 *
 * Layers stand in forward order. A line says all there is to say about its layer, so nothing is
 * inferred from the lines before it: a convolution has outputs x (inputs * kernel) weights, which it
 * uses once for each place of its output. With groups, inputs are those that one output sees. Behind
 * it stands `bias`, a value for each output, or `norm`, scale and shift of a normalization.
 * docs/man/poseidon-model.5.md has the whole of it; models/descriptions has well-known nets. */
#ifndef PSD_COMM_WORKLOAD_FILE_H
#define PSD_COMM_WORKLOAD_FILE_H

#include "comm/workload.h"

/* Reads the description at `path`. The caller owns *out. PSD_ECONFIG: all mistakes of the file, each
 * with its line. */
psd_status psd_workload_file_read(const char *path, struct psd_workload **out);

/* The same from memory; sentences call the file `name`. */
psd_status psd_workload_file_parse(const char *name, const char *bytes, size_t size,
                                   struct psd_workload **out);

#endif
