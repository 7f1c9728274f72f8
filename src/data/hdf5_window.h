/* hdf5_window.h - a dataset of the file that is open, with the rows of it that are in memory; only for
 * hdf5_rows.c.
 *
 *     in one piece         rows come straight from the file
 *     in chunks            a window over the rows of a band of chunks, each unpacked once
 *     shuffled, in chunks  the window is all of it, as Caffe has every file */
#ifndef PSD_DATA_HDF5_WINDOW_H
#define PSD_DATA_HDF5_WINDOW_H

#include "data/hdf5.h"

struct psd_hdf5_window {
    char *name;                  /* owned; by whoever made it */
    struct psd_hdf5_space space; /* of the first file */
    uint64_t row;                /* values of a row */

    struct psd_hdf5_dataset *dataset; /* owned; NULL: no file is open */
    float *values;                    /* owned; NULL: there is none */
    uint64_t first, count;            /* its rows */
};

/* Forgets dataset and window. */
void psd_hdf5_window_close(struct psd_hdf5_window *window);

/* Reads `count` rows from row `first` on, or those whose numbers are in `order`. */
psd_status psd_hdf5_window_read(struct psd_hdf5_window *window, uint64_t first, uint64_t count,
                                float *out);
psd_status psd_hdf5_window_pick(struct psd_hdf5_window *window, const uint32_t *order, size_t count,
                                float *out);

#endif
