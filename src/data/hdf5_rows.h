/* hdf5_rows.h - the rows of several HDF5 files, one after the other and over again.
 *
 *     list.txt                one.h5   data [3][...]  label [3]        row 0 1 2
 *       one.h5                two.h5   data [2][...]  label [2]        row       3 4
 *       two.h5                                        and from the start again:    5 = row 0 of one.h5
 *
 * With `shuffle` each time through has another order of the files, and of the rows in each; both follow
 * from the seed and the number of the time alone, so that any row of any time can be asked for at once.
 *
 * One file is open at a time. Rows come straight from it; of a dataset in chunks a band of chunks is in
 * memory, and all of it where its rows are shuffled (hdf5_window.h). Belongs to one thread. */
#ifndef PSD_DATA_HDF5_ROWS_H
#define PSD_DATA_HDF5_ROWS_H

#include "data/hdf5.h"

struct psd_hdf5_rows_options {
    const char *list;         /* a text file: paths, with blanks or ends of lines between them */
    const char *const *names; /* of the datasets */
    size_t columns;           /* how many; at least 1 */
    bool shuffle;
    uint64_t seed, stream; /* of the order */
};

struct psd_hdf5_rows;

/* Looks at all files. The caller owns *out until close. PSD_ECONFIG: one is missing or damaged, lacks a
 * dataset, or has another shape than the first; or there is no row at all. */
psd_status psd_hdf5_rows_open(const struct psd_hdf5_rows_options *options,
                              struct psd_hdf5_rows **out);
void psd_hdf5_rows_close(struct psd_hdf5_rows *rows);

/* The shape of a dataset in the first file; all have its axes behind the first. */
const struct psd_hdf5_space *psd_hdf5_rows_space(const struct psd_hdf5_rows *rows, size_t column);

/* Rows of all files together. */
uint64_t psd_hdf5_rows_count(const struct psd_hdf5_rows *rows);

/* Another seed for what is shuffled. */
void psd_hdf5_rows_reseed(struct psd_hdf5_rows *rows, uint64_t seed);

/* Reads `count` rows of every dataset from row `first` on, counted over all times through, to
 * out[column]. */
psd_status psd_hdf5_rows_read(struct psd_hdf5_rows *rows, uint64_t first, size_t count,
                              float *const *out);

#endif
