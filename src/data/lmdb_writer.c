/* lmdb_writer.c - transactions of a thousand records, in a map that grows between them.
 *
 * liblmdb writes through a map of fixed length, and a transaction that does not fit is lost. So we
 * add up the most that the records of a transaction can need, and end it early where the map would
 * become too small for the next one. */
#include "data/lmdb_writer.h"
#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS_A_COMMIT = 1000, FIRST_MAP = 64 << 20 };

struct psd_lmdb_writer {
    char *path;     /* owned; the name in the end */
    char *folder;   /* owned; the name until then */
    MDB_env *env;   /* owned */
    MDB_txn *txn;   /* owned; NULL between transactions and when it is complete */
    bool complete;  /* only the name is missing */
    MDB_dbi dbi;    /* the main database */
    size_t map;     /* bytes of the map */
    size_t used;    /* bytes of it that are taken at most, this transaction included */
    size_t page;    /* bytes of a page */
    size_t pending; /* records in the transaction */
};

/* liblmdb says EIO when the system writes less than it is asked to. */
static psd_status failed(const struct psd_lmdb_writer *writer, int error)
{
    return psd_fail(PSD_ECONFIG, "cannot write the database %s: %s", writer->path,
                    error == EIO ? "a part of it could not be written; perhaps the disk is full"
                                 : mdb_strerror(error));
}

static psd_status exists(const char *path)
{
    return psd_fail(PSD_ECONFIG, "%s exists already; remove it or choose another name", path);
}

/* What a transaction takes besides its records: copies of pages it changes, and lists. */
static size_t overhead(const struct psd_lmdb_writer *writer)
{
    return 256 * writer->page;
}

static psd_status begin(struct psd_lmdb_writer *writer)
{
    int error = mdb_txn_begin(writer->env, NULL, 0, &writer->txn);

    if (!error)
        error = mdb_dbi_open(writer->txn, NULL, 0, &writer->dbi);
    if (error)
        return failed(writer, error);
    writer->used += overhead(writer);
    return PSD_OK;
}

static psd_status end(struct psd_lmdb_writer *writer)
{
    MDB_envinfo info;
    int error = mdb_txn_commit(writer->txn);

    writer->txn = NULL;
    writer->pending = 0;
    if (!error)
        error = mdb_env_info(writer->env, &info);
    if (error)
        return failed(writer, error);
    writer->used = (info.me_last_pgno + 1) * writer->page;
    return PSD_OK;
}

/* Makes the map long enough for `more` bytes and another transaction; there is none now. */
static psd_status grow(struct psd_lmdb_writer *writer, size_t more)
{
    size_t wanted = writer->used + overhead(writer) + more, map = writer->map;

    while (map < wanted)
        map *= 2;
    int error = map > writer->map ? mdb_env_set_mapsize(writer->env, map) : 0;
    if (error)
        return failed(writer, error);
    writer->map = map;
    return PSD_OK;
}

static psd_status open_env(struct psd_lmdb_writer *writer)
{
    MDB_stat about;

    int error = mdb_env_create(&writer->env);
    if (!error)
        error = mdb_env_set_mapsize(writer->env, FIRST_MAP);
    /* Until it has its name nobody else uses the database, so that one sync is enough. There is
     * nobody to lock out either, and on a full disk the map of a lock file ends the program. */
    if (!error)
        error = mdb_env_open(writer->env, writer->folder, MDB_NOSYNC | MDB_NOLOCK, 0664);
    if (!error)
        error = mdb_env_stat(writer->env, &about);
    if (error)
        return failed(writer, error);
    writer->map = FIRST_MAP;
    writer->page = about.ms_psize;
    return begin(writer);
}

static void remove_folder(const char *folder)
{
    char file[PATH_MAX];
    int length = snprintf(file, sizeof file, "%s/data.mdb", folder);

    if (length > 0 && (size_t)length < sizeof file)
        unlink(file);
    rmdir(folder);
}

static psd_status choose_names(const char *path, struct psd_lmdb_writer *writer)
{
    int length = (int)strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    writer->path = psd_alloc_text("%.*s", length, path);
    writer->folder = psd_alloc_text("%.*s.tmp-%ld", length, path, (long)getpid());
    return writer->path && writer->folder ? PSD_OK : PSD_ENOMEM;
}

static psd_status make_folder(const struct psd_lmdb_writer *writer)
{
    struct stat about;

    if (lstat(writer->path, &about) == 0)
        return exists(writer->path);
    remove_folder(writer->folder); /* of a run that was killed */
    if (mkdir(writer->folder, 0755) == 0)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG, "cannot make the folder %s: %s", writer->path,
                    strerrordesc_np(errno));
}

static void release(struct psd_lmdb_writer *writer)
{
    if (writer->txn)
        mdb_txn_abort(writer->txn);
    if (writer->env)
        mdb_env_close(writer->env);
    psd_alloc_free(writer->folder);
    psd_alloc_free(writer->path);
    psd_alloc_free(writer);
}

psd_status psd_lmdb_writer_open(const char *path, struct psd_lmdb_writer **out)
{
    struct psd_lmdb_writer *writer = psd_alloc_zero(1, sizeof *writer);

    if (!writer)
        return PSD_ENOMEM;
    psd_status status = choose_names(path, writer);
    if (status == PSD_OK)
        status = make_folder(writer);
    if (status != PSD_OK) {
        release(writer);
        return status;
    }
    status = open_env(writer);
    if (status == PSD_OK)
        *out = writer;
    else
        psd_lmdb_writer_abandon(writer);
    return status;
}

/* The most that a record can add to the file: its own pages, and pages split for it. */
static size_t cost(const struct psd_lmdb_writer *writer, size_t key_size, size_t value_size)
{
    return key_size + value_size + 4 * writer->page;
}

static psd_status make_room(struct psd_lmdb_writer *writer, size_t more)
{
    bool fits = writer->used + more <= writer->map;

    if (fits && writer->pending < RECORDS_A_COMMIT)
        return PSD_OK;
    PSD_TRY(end(writer));
    PSD_TRY(grow(writer, more));
    return begin(writer);
}

psd_status psd_lmdb_writer_put(struct psd_lmdb_writer *writer, const void *key, size_t key_size,
                               const void *value, size_t value_size)
{
    MDB_val name = {.mv_size = key_size, .mv_data = (void *)(uintptr_t)key};
    MDB_val bytes = {.mv_size = value_size, .mv_data = (void *)(uintptr_t)value};
    size_t more = cost(writer, key_size, value_size);

    if (!writer->txn)
        return psd_fail(PSD_EINVAL, "the database %s could not be written", writer->path);
    PSD_TRY(make_room(writer, more));
    int error = mdb_put(writer->txn, writer->dbi, &name, &bytes, 0);
    if (error)
        return failed(writer, error);
    writer->used += more;
    writer->pending++;
    return PSD_OK;
}

psd_status psd_lmdb_writer_complete(struct psd_lmdb_writer *writer)
{
    if (!writer->txn)
        return psd_fail(PSD_EINVAL, "the database %s could not be written", writer->path);
    PSD_TRY(end(writer));
    int error = mdb_env_sync(writer->env, 1);
    if (error)
        return failed(writer, error);
    writer->complete = true;
    return PSD_OK;
}

/* Renaming a folder replaces an empty one, and nothing else. */
static psd_status give_name(const struct psd_lmdb_writer *writer)
{
    if (rename(writer->folder, writer->path) == 0)
        return PSD_OK;
    bool taken = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
    return taken ? exists(writer->path) : failed(writer, errno);
}

psd_status psd_lmdb_writer_commit(struct psd_lmdb_writer *writer)
{
    psd_status status = writer->complete ? PSD_OK : psd_lmdb_writer_complete(writer);

    if (status == PSD_OK)
        status = give_name(writer);
    if (status == PSD_OK)
        release(writer);
    else
        psd_lmdb_writer_abandon(writer);
    return status;
}

void psd_lmdb_writer_abandon(struct psd_lmdb_writer *writer)
{
    if (!writer)
        return;
    remove_folder(writer->folder);
    release(writer);
}
