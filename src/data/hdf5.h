/* hdf5.h - reads HDF5 files: names in groups, and rows of datasets as floats.
 *
 *     psd_hdf5_open("train.h5", &file);
 *     psd_hdf5_dataset_open(file, "data", &dataset);          its shape is known now
 *     psd_hdf5_dataset_read(dataset, 128, 64, values);        rows 128 to 191, and nothing else
 *     psd_hdf5_dataset_close(dataset);
 *     psd_hdf5_close(file);
 *
 * It reads what libhdf5 and h5py write unless they are asked for the newest format, and most of that:
 * datasets of floats and integers in one piece, in their header, or in chunks with gzip, shuffle and
 * fletcher32. What else HDF5 can do is a sentence and PSD_ENOSUP. Damage is a sentence with the file
 * and the byte, whatever the damage; memory is asked for only in proportion to the file.
 *
 * A file does not change once it is open: any number of threads use it. A dataset is one thread's. */
#ifndef PSD_DATA_HDF5_H
#define PSD_DATA_HDF5_H

#include "base/status.h"
#include "data/hdf5_file.h"
#include "data/hdf5_space.h"

#include <stdbool.h>

struct psd_hdf5;
struct psd_hdf5_dataset;

/* Whether a file begins as an HDF5 file does, or has a name that ends in ".h5". */
bool psd_hdf5_is(const char *path);

/* The caller owns *out until close, and closes its datasets before. */
psd_status psd_hdf5_open(const char *path, struct psd_hdf5 **out);
void psd_hdf5_close(struct psd_hdf5 *file);

/* A name in a group. */
struct psd_hdf5_name {
    char *text; /* owned */
    bool is_group;
};

struct psd_hdf5_names {
    struct psd_hdf5_name *all; /* owned */
    size_t count;
};

/* The names in the group at `path`, such as "data/conv1" or "" for all of the file, in the order of
 * the file, which is that of their letters in older ones. The caller frees them with fini.
 * PSD_ECONFIG: there is no such group. */
psd_status psd_hdf5_names(const struct psd_hdf5 *file, const char *path,
                          struct psd_hdf5_names *out);
void psd_hdf5_names_fini(struct psd_hdf5_names *names);

/* Whether there is something at `path`. */
psd_status psd_hdf5_has(const struct psd_hdf5 *file, const char *path, bool *out);

/* Finds a dataset. The caller owns *out until close. PSD_ECONFIG: there is none. */
psd_status psd_hdf5_dataset_open(const struct psd_hdf5 *file, const char *path,
                                 struct psd_hdf5_dataset **out);
void psd_hdf5_dataset_close(struct psd_hdf5_dataset *dataset);

/* Its shape; rows are along the first axis, and there is one row where there is no axis. */
const struct psd_hdf5_space *psd_hdf5_dataset_space(const struct psd_hdf5_dataset *dataset);
uint64_t psd_hdf5_dataset_rows(const struct psd_hdf5_dataset *dataset);
uint64_t psd_hdf5_dataset_row(const struct psd_hdf5_dataset *dataset); /* values of a row */

/* How many rows, from a multiple of so many on, cost as much as one of them: those of a chunk; 1 where
 * the values are in one piece. */
uint64_t psd_hdf5_dataset_band(const struct psd_hdf5_dataset *dataset);

/* Reads `count` rows from row `first` on, which are there, as floats. PSD_ENOSUP: they are texts. */
psd_status psd_hdf5_dataset_read(struct psd_hdf5_dataset *dataset, uint64_t first, uint64_t count,
                                 float *out);

/* The only value of a dataset: an integer, or a text that the caller owns. PSD_ECONFIG: it has another
 * type, or several. */
psd_status psd_hdf5_dataset_integer(struct psd_hdf5_dataset *dataset, int64_t *out);
psd_status psd_hdf5_dataset_text(struct psd_hdf5_dataset *dataset, char **out);

#endif
