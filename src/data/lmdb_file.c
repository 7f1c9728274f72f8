/* lmdb_file.c - read with pread: no map, so that a file that shrinks is a sentence and no signal.
 */
#include "data/lmdb_file.h"
#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A database of more pages (4 TiB of the usual ones) is refused: the walk takes a bit for each. */
#define MOST_PAGES (UINT64_C(1) << 30)

psd_status psd_lmdb_file_damaged(const struct psd_lmdb_file *file, uint64_t page,
                                 const char *reason)
{
    return psd_fail(PSD_ECONFIG, "%s: page %" PRIu64 " %s", file->path, page, reason);
}

psd_status psd_lmdb_file_read(const struct psd_lmdb_file *file, uint64_t at, void *to, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(file->fd, (char *)to + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return psd_fail(PSD_ECONFIG, "cannot read %s: %s", file->path, strerrordesc_np(errno));
        if (got == 0)
            return psd_fail(PSD_ECONFIG, "%s ends before byte %" PRIu64 ": a part of it is missing",
                            file->path, at + done);
        done += (size_t)got;
    }
    return PSD_OK;
}

static psd_status read_meta(const struct psd_lmdb_file *file, uint64_t page, size_t page_size,
                            struct psd_lmdb_meta *out)
{
    uint8_t bytes[PSD_LMDB_META];

    PSD_TRY(psd_lmdb_file_read(file, page * page_size, bytes, sizeof bytes));
    const char *reason = psd_lmdb_page_meta(bytes, out);
    return reason ? psd_lmdb_file_damaged(file, page, reason) : PSD_OK;
}

/* The two meta pages are written in turn; the one of the later commit counts. */
static psd_status read_metas(struct psd_lmdb_file *file)
{
    struct psd_lmdb_meta first, second;

    PSD_TRY(read_meta(file, 0, 0, &first));
    PSD_TRY(read_meta(file, 1, first.page_size, &second));
    if (first.page_size != second.page_size)
        return psd_lmdb_file_damaged(file, 1, "has another page size than page 0");
    file->meta = second.commit > first.commit ? second : first;
    return PSD_OK;
}

static psd_status check_length(const struct psd_lmdb_file *file, uint64_t size)
{
    uint64_t pages = size / file->meta.page_size;

    if (file->meta.root == PSD_LMDB_NO_PAGE)
        return PSD_OK;
    if (file->meta.last_page >= pages)
        return psd_fail(PSD_ECONFIG,
                        "%s has %" PRIu64 " pages and should have %" PRIu64
                        " more; perhaps a copy that broke off",
                        file->path, pages, file->meta.last_page + 1 - pages);
    if (file->meta.last_page >= MOST_PAGES)
        return psd_fail(PSD_ENOSUP, "%s has more than the 2^30 pages that we read", file->path);
    return PSD_OK;
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);

    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* The file that `path` means; the caller owns *out. */
static psd_status find_file(const char *path, char **out)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return psd_fail(PSD_ECONFIG, "cannot open the database %s: %s", path,
                        strerrordesc_np(errno));
    bool folder = S_ISDIR(about.st_mode);
    if (folder && !is_there(path, "data.mdb") && is_there(path, "CURRENT"))
        return psd_fail(PSD_ECONFIG, "%s is a LevelDB database, not an LMDB one", path);
    if (folder && !is_there(path, "data.mdb"))
        return psd_fail(PSD_ECONFIG, "%s has no file data.mdb, so it is no LMDB database", path);
    if (!folder && !S_ISREG(about.st_mode))
        return psd_fail(PSD_ECONFIG, "%s is neither a file nor a folder with a database", path);
    *out = psd_alloc_text("%s%s", path, folder ? "/data.mdb" : "");
    return *out ? PSD_OK : PSD_ENOMEM;
}

static psd_status open_found(struct psd_lmdb_file *file)
{
    uint64_t size;

    PSD_TRY(psd_file_descriptor(file->path, &file->fd, &size));
    psd_status status = read_metas(file);
    if (status == PSD_OK)
        status = check_length(file, size);
    if (status != PSD_OK)
        close(file->fd);
    return status;
}

psd_status psd_lmdb_file_open(const char *path, struct psd_lmdb_file *out)
{
    struct psd_lmdb_file file = {0};

    PSD_TRY(find_file(path, &file.path));
    psd_status status = open_found(&file);
    if (status == PSD_OK)
        *out = file;
    else
        psd_alloc_free(file.path);
    return status;
}

void psd_lmdb_file_close(struct psd_lmdb_file *file)
{
    close(file->fd);
    psd_alloc_free(file->path);
}
