/* lmdb_file.h - the file of an LMDB database: found, opened, read at any place. */
#ifndef PSD_DATA_LMDB_FILE_H
#define PSD_DATA_LMDB_FILE_H

#include "base/status.h"
#include "data/lmdb_page.h"

struct psd_lmdb_file {
    char *path; /* owned; for sentences */
    int fd;     /* owned */
    struct psd_lmdb_meta meta;
};

/* Opens the file that `path` means, itself or its data.mdb, and reads its meta pages. After
 * PSD_OK the root, if there is one, and the last page are in the file. */
psd_status psd_lmdb_file_open(const char *path, struct psd_lmdb_file *out);
void psd_lmdb_file_close(struct psd_lmdb_file *file);

/* Reads exactly `size` bytes from byte `at` of the file on. Any thread. */
psd_status psd_lmdb_file_read(const struct psd_lmdb_file *file, uint64_t at, void *to, size_t size);

/* Fails because of a page: "FILE: page 7 REASON". */
psd_status psd_lmdb_file_damaged(const struct psd_lmdb_file *file, uint64_t page,
                                 const char *reason);

#endif
