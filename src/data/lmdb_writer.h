/* lmdb_writer.h - makes a new LMDB database, as Caffe's tools do.
 *
 *     psd_lmdb_writer_open("train_lmdb", &writer);               makes train_lmdb.tmp-1234
 *     psd_lmdb_writer_put(writer, "00000000", 8, value, size);   as often as there are records
 *     psd_lmdb_writer_commit(writer);                            now it is train_lmdb
 *
 * Whoever finds a database under its name finds a whole one, also when a writer was killed.
 *
 * Writing is liblmdb's work: what it writes is by definition right, and here it reads nothing that
 * it has not written itself. One thread at a time. */
#ifndef PSD_DATA_LMDB_WRITER_H
#define PSD_DATA_LMDB_WRITER_H

#include "base/status.h"

#include <stddef.h>

struct psd_lmdb_writer;

/* Starts a database that will be the folder `path`. The caller owns *out until commit or abandon.
 * PSD_ECONFIG: something of that name exists, or it cannot be made. */
psd_status psd_lmdb_writer_open(const char *path, struct psd_lmdb_writer **out);

/* Adds a record; a key has 1 to 511 bytes, and a second record of one key replaces the first.
 * PSD_ECONFIG: it cannot be written, for a full disk say. */
psd_status psd_lmdb_writer_put(struct psd_lmdb_writer *writer, const void *key, size_t key_size,
                               const void *value, size_t value_size);

/* After the last record: writes what is still to be written and sees to it that it is on the disk.
 * A commit that follows has only the name to give. PSD_ECONFIG: it cannot be written. */
psd_status psd_lmdb_writer_complete(struct psd_lmdb_writer *writer);

/* Completes the database, if that is not done yet, gives it its name and frees the writer; on
 * failure nothing is left. */
psd_status psd_lmdb_writer_commit(struct psd_lmdb_writer *writer);

/* Removes what was written and frees the writer; NULL is fine. */
void psd_lmdb_writer_abandon(struct psd_lmdb_writer *writer);

#endif
