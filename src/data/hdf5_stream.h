/* hdf5_stream.h - writes an HDF5 file row by row, when nobody knows yet how many rows there will be.
 *
 *     NAME.tmp-1234      [ room for the head | rows of column 0 ... ]     grows as rows come
 *     unnamed files      [ rows of column 1 ... ]                         behind the others at the end
 *
 *     psd_hdf5_stream_commit: columns together, the head last, synced, and it gets its name
 *
 * Whoever finds the file under its name finds a whole one. One thread at a time. */
#ifndef PSD_DATA_HDF5_STREAM_H
#define PSD_DATA_HDF5_STREAM_H

#include "data/hdf5_file.h"

enum { PSD_HDF5_COLUMNS = 4 };

/* A dataset of the file; its rows have `axes` - 1 axes, and dim[0] does not count. */
struct psd_hdf5_column {
    const char *name; /* borrowed for the call */
    size_t axes;
    size_t dim[PSD_HDF5_AXES];
};

struct psd_hdf5_stream;

/* Starts a file of up to PSD_HDF5_COLUMNS datasets. The caller owns *out until commit or abandon.
 * PSD_ECONFIG: it cannot be written. */
psd_status psd_hdf5_stream_open(const char *path, const struct psd_hdf5_column *columns,
                                size_t count, struct psd_hdf5_stream **out);

/* Adds `rows` rows to each dataset, from values[i]. PSD_ECONFIG: the disk is full, say. */
psd_status psd_hdf5_stream_add(struct psd_hdf5_stream *stream, size_t rows,
                               const float *const *values);

/* Gives the file its name and frees the stream; on failure nothing is left. */
psd_status psd_hdf5_stream_commit(struct psd_hdf5_stream *stream);

/* Removes what was written and frees the stream; NULL is fine. */
void psd_hdf5_stream_abandon(struct psd_hdf5_stream *stream);

#endif
