/* hdf5_btree.h - a B-tree of version 1: what groups find their names by, and datasets their chunks.
 *
 *     node   "TREE"  kind 4  level 5  count 6 (2)  left 8  right 16  key child key child ... key
 *
 * A walk visits the children of the lowest level from first to last. Levels fall by one from node to
 * node, and no more children are followed than fit into the file, so that it ends. */
#ifndef PSD_DATA_HDF5_BTREE_H
#define PSD_DATA_HDF5_BTREE_H

#include "data/hdf5_file.h"

/* Takes a child of the lowest level and the key before it. */
typedef psd_status psd_hdf5_btree_function(void *context, const unsigned char *key, uint64_t child);

enum psd_hdf5_btree_kind { PSD_HDF5_BTREE_NAMES = 0, PSD_HDF5_BTREE_CHUNKS = 1 };

psd_status psd_hdf5_btree_walk(const struct psd_hdf5_file *file, uint64_t root,
                               enum psd_hdf5_btree_kind kind, size_t key_size,
                               psd_hdf5_btree_function *take, void *context);

#endif
