/* hdf5_filters.h - what was done to a chunk before it was written, and how it is undone.
 *
 *     values --> shuffle --> deflate --> fletcher32 --> file          and back, from the last to the first */
#ifndef PSD_DATA_HDF5_FILTERS_H
#define PSD_DATA_HDF5_FILTERS_H

#include "data/hdf5_header.h"

enum { PSD_HDF5_FILTERS_MOST = 8 };

struct psd_hdf5_filters {
    size_t count;
    unsigned id[PSD_HDF5_FILTERS_MOST];
    size_t width; /* bytes of a value, for shuffle; the dataset sets it */
};

/* PSD_ENOSUP: a filter other than gzip, shuffle and fletcher32. */
psd_status psd_hdf5_filters_read(const struct psd_hdf5_file *file,
                                 const struct psd_hdf5_message *message,
                                 struct psd_hdf5_filters *out);

/* Whether `stored` bytes can become `size`, so that memory for them may be asked for. */
bool psd_hdf5_filters_can(const struct psd_hdf5_filters *filters, uint64_t stored, uint64_t size);

/* Undoes the filters whose bit in `skipped` is 0. `bytes` has the `stored` ones, `spare` is as large:
 * `room` bytes each. The result of exactly `size` bytes is in *out, one of the two. PSD_ECONFIG: they
 * make no sense; `at` is their address. */
psd_status psd_hdf5_filters_undo(const struct psd_hdf5_filters *filters,
                                 const struct psd_hdf5_file *file, uint64_t at, unsigned skipped,
                                 unsigned char *bytes, unsigned char *spare, size_t room,
                                 size_t stored, size_t size, const unsigned char **out);

#endif
