/* hdf5_header.h - an object header: the messages that say what a group or a dataset is.
 *
 *     version 1   [ prefix | message | message | continued at ... ]   [ message | message ]
 *     version 2   "OHDR" ...                                          "OCHK" ...
 *
 * Messages go to a function one by one; it takes those it knows. */
#ifndef PSD_DATA_HDF5_HEADER_H
#define PSD_DATA_HDF5_HEADER_H

#include "data/hdf5_file.h"

#include <stdbool.h>

/* Kinds of messages that somebody here looks at. */
enum psd_hdf5_message_type {
    PSD_HDF5_SPACE = 1,
    PSD_HDF5_LINKS = 2,
    PSD_HDF5_TYPE = 3,
    PSD_HDF5_FILL = 5,
    PSD_HDF5_LINK = 6,
    PSD_HDF5_EXTERNAL = 7,
    PSD_HDF5_LAYOUT = 8,
    PSD_HDF5_FILTERS = 11,
    PSD_HDF5_CONTINUED = 16,
    PSD_HDF5_SYMBOLS = 17,
};

struct psd_hdf5_message {
    unsigned type;
    bool shared;                /* it is elsewhere, and here is only where */
    uint64_t at;                /* address of its bytes, for sentences */
    const unsigned char *bytes; /* borrowed for the call */
    size_t size;
};

typedef psd_status psd_hdf5_message_function(void *context, const struct psd_hdf5_message *message);

/* Calls `take` with each message of the header at an address, in their order. */
psd_status psd_hdf5_header_read(const struct psd_hdf5_file *file, uint64_t at,
                                psd_hdf5_message_function *take, void *context);

#endif
