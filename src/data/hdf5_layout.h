/* hdf5_layout.h - where a dataset's bytes are.
 *
 *     compact      in the object header itself
 *     contiguous   in one piece
 *     chunked      in boxes of equal shape, found by an index (hdf5_chunks.h) */
#ifndef PSD_DATA_HDF5_LAYOUT_H
#define PSD_DATA_HDF5_LAYOUT_H

#include "data/hdf5_header.h"

enum psd_hdf5_layout_kind { PSD_HDF5_COMPACT, PSD_HDF5_CONTIGUOUS, PSD_HDF5_CHUNKED };

/* How chunks are found. */
enum psd_hdf5_index {
    PSD_HDF5_INDEX_TREE = 0, /* a B-tree of version 1 */
    PSD_HDF5_INDEX_SINGLE,   /* there is one chunk */
    PSD_HDF5_INDEX_IMPLICIT, /* one after the other */
    PSD_HDF5_INDEX_FIXED,    /* an array of addresses */
};

struct psd_hdf5_layout {
    enum psd_hdf5_layout_kind kind;
    uint64_t at;   /* of the bytes, or of the index; PSD_HDF5_NOWHERE: nothing was written yet */
    uint64_t size; /* of the bytes, or of the single chunk where `is_filtered` */
    enum psd_hdf5_index index;
    bool is_filtered; /* the single chunk */
    unsigned skipped; /* filters that were not used for it: a bit each */
    size_t axes;
    uint64_t chunk[PSD_HDF5_AXES]; /* the box */
};

/* PSD_ENOSUP: another form. The bytes of a compact one stay in the file, at `at`. */
psd_status psd_hdf5_layout_read(const struct psd_hdf5_file *file,
                                const struct psd_hdf5_message *message,
                                struct psd_hdf5_layout *out);

#endif
