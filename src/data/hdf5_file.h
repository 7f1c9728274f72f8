/* hdf5_file.h - the file of HDF5 data: opened, its superblock read, bytes from any place of it.
 *
 *     superblock --> the object header of the root group --> everything else, by addresses
 *
 * Addresses count from where the superblock is, which is not always byte 0 (a "user block" may come
 * first). Nothing of the file is believed: each read is checked against its length before memory is
 * asked for. Read with pread: no map, so that a file that shrinks is a sentence and no signal. */
#ifndef PSD_DATA_HDF5_FILE_H
#define PSD_DATA_HDF5_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* An address that leads nowhere. */
#define PSD_HDF5_NOWHERE UINT64_MAX

enum { PSD_HDF5_AXES = 32 }; /* of a dataset, at most; the format's own limit */

struct psd_hdf5_file {
    char *path;    /* owned; for sentences */
    int fd;        /* owned */
    uint64_t base; /* the byte of the file that is address 0 */
    uint64_t size; /* bytes from there to the end */
    uint64_t root; /* the address of the root group's object header */
};

/* Opens the file and reads its superblock. PSD_ECONFIG: there is no such file, it is no HDF5 file or
 * ends too early; PSD_ENOSUP: its addresses are not of 8 bytes. */
psd_status psd_hdf5_file_open(const char *path, struct psd_hdf5_file *out);
void psd_hdf5_file_close(struct psd_hdf5_file *file);

/* Reads exactly `size` bytes from address `at` on. Any thread. */
psd_status psd_hdf5_file_read(const struct psd_hdf5_file *file, uint64_t at, void *to, size_t size);

/* The same into memory that the caller owns; it is asked for once it is known that the file is that
 * long. */
psd_status psd_hdf5_file_load(const struct psd_hdf5_file *file, uint64_t at, uint64_t size,
                              unsigned char **out);

/* Fails because of what is at an address: "FILE: byte 4711: REASON". */
psd_status psd_hdf5_file_damaged(const struct psd_hdf5_file *file, uint64_t at, const char *reason);

/* The same for what is no damage, but a way of HDF5's that we do not read: PSD_ENOSUP. */
psd_status psd_hdf5_file_unknown(const struct psd_hdf5_file *file, uint64_t at, const char *reason);

#endif
