/* hdf5_chunks.h - the chunks of a dataset, by their place in the grid that they make.
 *
 *     dataset 10 x 5, chunks 4 x 3      0 1      found once, from whichever index the file has,
 *                                       2 3      and kept as a sorted list: 24 bytes each
 *                                       4 5 */
#ifndef PSD_DATA_HDF5_CHUNKS_H
#define PSD_DATA_HDF5_CHUNKS_H

#include "data/hdf5_layout.h"
#include "data/hdf5_space.h"

struct psd_hdf5_chunk {
    uint64_t number; /* in the grid, last axis fastest */
    uint64_t at;
    uint32_t size;    /* as it is stored */
    uint32_t skipped; /* filters that were not used: a bit each */
};

struct psd_hdf5_chunks {
    uint64_t grid[PSD_HDF5_AXES];
    uint64_t bytes;             /* of a chunk without filters */
    struct psd_hdf5_chunk *all; /* owned; sorted */
    size_t count;
};

/* Finds them; values are of `width` bytes, and the layout's axes are the space's. */
psd_status psd_hdf5_chunks_find(const struct psd_hdf5_file *file,
                                const struct psd_hdf5_layout *layout,
                                const struct psd_hdf5_space *space, size_t width, bool filtered,
                                struct psd_hdf5_chunks *out);
void psd_hdf5_chunks_fini(struct psd_hdf5_chunks *chunks);

/* The chunk of that number; NULL: it was never written. */
const struct psd_hdf5_chunk *psd_hdf5_chunks_at(const struct psd_hdf5_chunks *chunks,
                                                uint64_t number);

#endif
