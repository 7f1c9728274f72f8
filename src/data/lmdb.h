/* lmdb.h - reads Caffe's databases: records of an LMDB file, by index.
 *
 *     psd_lmdb_open("train_lmdb", &db);            walks the tree once, leaf by leaf
 *     for (i = 0; i < psd_lmdb_count(db); i++)
 *         psd_lmdb_record(db, i, &record);         one read of the file, or two for a large value
 *     psd_lmdb_close(db);
 *
 * The tree is needed for the order of the keys only, so it is walked once, and what is kept is the
 * place of each record in the file: 8 bytes each. Records then come in any order at the same cost,
 * which is what workers that share a database, and a job that resumes in the middle, want.
 *
 * liblmdb maps its file and trusts it. This reader does neither: a damaged file is a sentence with
 * the file and the page, whatever the damage, and a file that shrinks under us is one as well. It
 * takes no part in LMDB's locking; nobody may write to the database meanwhile.
 *
 * Many threads may read from one database, each into a record of its own. */
#ifndef PSD_DATA_LMDB_H
#define PSD_DATA_LMDB_H

#include "base/status.h"
#include "data/record.h"

#include <stdint.h>

struct psd_lmdb;

/* Opens the database at `path`, a folder with a data.mdb or such a file itself. The caller owns
 * *out until close. PSD_ECONFIG: there is none, or it is damaged. */
psd_status psd_lmdb_open(const char *path, struct psd_lmdb **out);
void psd_lmdb_close(struct psd_lmdb *db);

/* How many records there are. */
uint64_t psd_lmdb_count(const struct psd_lmdb *db);

/* Reads the record at `index`, which is below the count, in the order of the keys: sets key and
 * value; the datum is not touched. PSD_ECONFIG: the file is damaged there, or became shorter. */
psd_status psd_lmdb_record(const struct psd_lmdb *db, uint64_t index, struct psd_record *record);

#endif
