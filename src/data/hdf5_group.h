/* hdf5_group.h - a group: names, and the addresses of what they stand for.
 *
 *     older files   header --> tree --> nodes of up to 8 names --> object headers
 *                          '-> heap with the names' letters
 *     newer files   header with a message for each name
 *
 * A newer group of more than 8 names has them elsewhere, in a form that we do not read; libhdf5 makes
 * it only when it is asked for the newest format. */
#ifndef PSD_DATA_HDF5_GROUP_H
#define PSD_DATA_HDF5_GROUP_H

#include "data/hdf5_file.h"

#include <stdbool.h>

enum { PSD_HDF5_NAME = 1024 }; /* bytes of a name, at most */

/* Takes a name, whose end is not marked, and the address of its object header; PSD_HDF5_NOWHERE: it is
 * a link to another name. */
typedef psd_status psd_hdf5_name_function(void *context, const char *name, size_t length,
                                          uint64_t at);

/* Calls `take` with each name of the group whose object header is at an address. */
psd_status psd_hdf5_group_read(const struct psd_hdf5_file *file, uint64_t group,
                               psd_hdf5_name_function *take, void *context);

/* Finds `path`, names with slashes between them, from the group on; the group itself for "". *out is
 * PSD_HDF5_NOWHERE when there is no such thing. */
psd_status psd_hdf5_group_find(const struct psd_hdf5_file *file, uint64_t group, const char *path,
                               uint64_t *out);

/* Whether the object header at an address is a group's. */
psd_status psd_hdf5_group_is(const struct psd_hdf5_file *file, uint64_t at, bool *out);

#endif
