/* hdf5_dataset.h - a dataset put together from its object header; only for hdf5*.c. The rest of its
 * functions are in hdf5.h. */
#ifndef PSD_DATA_HDF5_DATASET_H
#define PSD_DATA_HDF5_DATASET_H

#include "data/hdf5.h"
#include "data/hdf5_chunks.h"
#include "data/hdf5_filters.h"
#include "data/hdf5_type.h"

struct psd_hdf5_dataset {
    const struct psd_hdf5_file *file; /* borrowed */
    char *name;                       /* owned; for sentences */
    uint64_t at;
    bool has_space, has_type, has_layout;
    struct psd_hdf5_space space;
    struct psd_hdf5_type type;
    struct psd_hdf5_layout layout;
    struct psd_hdf5_filters filters;
    unsigned char fill[8]; /* a value that was never written */
    struct psd_hdf5_chunks chunks;

    size_t room;                   /* bytes of each of the two below; 0: not yet there */
    unsigned char *bytes, *spare;  /* owned; a chunk on its way */
    const unsigned char *unpacked; /* in one of them: the latest chunk; NULL: none */
    uint64_t number;               /* which one it is */
};

/* Opens the dataset whose object header is at an address; the file is borrowed until its close. */
psd_status psd_hdf5_dataset_open_at(const struct psd_hdf5_file *file, uint64_t at, const char *name,
                                    struct psd_hdf5_dataset **out);

/* Reads rows of a chunked dataset. */
psd_status psd_hdf5_dataset_gather(struct psd_hdf5_dataset *dataset, uint64_t first, uint64_t count,
                                   float *out);

#endif
