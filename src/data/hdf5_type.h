/* hdf5_type.h - what a dataset's values are, and how they become floats.
 *
 *     datatype message   version and class 0  bits 1 (3)  size 4 (4)  properties 8 ... */
#ifndef PSD_DATA_HDF5_TYPE_H
#define PSD_DATA_HDF5_TYPE_H

#include "data/hdf5_header.h"

enum psd_hdf5_class { PSD_HDF5_INTEGER = 0, PSD_HDF5_FLOAT = 1, PSD_HDF5_TEXT = 3 };

struct psd_hdf5_type {
    enum psd_hdf5_class class;
    size_t size; /* bytes of a value: 1, 2, 4, 8; 2, 4 or 8 for floats; any for texts */
    bool big_endian;
    bool is_signed;
};

/* PSD_ENOSUP: values of another kind. */
psd_status psd_hdf5_type_read(const struct psd_hdf5_file *file,
                              const struct psd_hdf5_message *message, struct psd_hdf5_type *out);

/* Whether the file's bytes are floats as they stand. */
bool psd_hdf5_type_is_plain(const struct psd_hdf5_type *type);

/* Converts `count` numbers; rounding is to the nearest. */
void psd_hdf5_type_convert(const struct psd_hdf5_type *type, const unsigned char *from,
                           size_t count, float *out);

/* One integer, exactly. */
int64_t psd_hdf5_type_integer(const struct psd_hdf5_type *type, const unsigned char *from);

#endif
