/* hdf5_space.h - the shape of a dataset. */
#ifndef PSD_DATA_HDF5_SPACE_H
#define PSD_DATA_HDF5_SPACE_H

#include "data/hdf5_header.h"

struct psd_hdf5_space {
    size_t axes; /* 0: one value */
    uint64_t dim[PSD_HDF5_AXES];
    uint64_t most[PSD_HDF5_AXES]; /* what it may grow to */
    uint64_t count;               /* the product; below 2^48 */
};

/* PSD_ECONFIG: it makes no sense or is too large for any file. */
psd_status psd_hdf5_space_read(const struct psd_hdf5_file *file,
                               const struct psd_hdf5_message *message, struct psd_hdf5_space *out);

#endif
