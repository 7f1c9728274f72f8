/* hdf5_node.h - the parts of a file that is being planned; only for hdf5_plan.c and hdf5_emit.c. */
#ifndef PSD_DATA_HDF5_NODE_H
#define PSD_DATA_HDF5_NODE_H

#include "data/hdf5_plan.h"

#include <stdbool.h>

enum psd_hdf5_node_kind {
    PSD_HDF5_NODE_GROUP,
    PSD_HDF5_NODE_FLOATS,
    PSD_HDF5_NODE_INTEGER,
    PSD_HDF5_NODE_TEXT
};

enum {
    PSD_HDF5_LEAF = 8, /* names of a symbol node */
    PSD_HDF5_FAN = 32, /* children of a node of the tree */
    PSD_HDF5_LEAF_SIZE = 8 + 40 * PSD_HDF5_LEAF,
    PSD_HDF5_FAN_SIZE = 24 + 16 * PSD_HDF5_FAN + 8,
    PSD_HDF5_ROOT_AT = 96, /* behind the superblock */
};

struct psd_hdf5_node {
    char *name; /* owned */
    size_t parent;
    enum psd_hdf5_node_kind kind;
    size_t axes;
    uint64_t dim[PSD_HDF5_AXES];
    const void *values; /* borrowed, or owned; NULL: the caller writes them */
    char *owned;        /* owned; the values of integers and texts */
    uint64_t size;      /* of the values, in bytes */

    uint64_t header;        /* address of the object header */
    uint64_t data;          /* of the values */
    uint64_t name_at;       /* in the heap of its group */
    size_t first, count;    /* a group's: its names in the plan's order */
    uint64_t heap, letters; /* a group's: address of its heap, and size of its names there */
    uint64_t leaves, tree;  /* a group's: addresses of its symbol nodes and of the tree's nodes */
};

struct psd_hdf5_plan {
    struct psd_hdf5_node *nodes; /* owned; a group before what is in it; the first is the root */
    size_t count;
    size_t *order; /* owned; nodes by group and name */
    uint64_t head, size;
};

/* Bytes of an object header. */
uint64_t psd_hdf5_emit_header_size(const struct psd_hdf5_node *node);

/* How many nodes a level of the tree has above `children`; there is always one. */
size_t psd_hdf5_emit_fans(size_t children);

#endif
