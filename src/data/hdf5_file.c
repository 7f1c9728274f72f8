/* hdf5_file.c - superblocks, and reads that stay inside the file.
 *
 *     version 0, 1   \x89HDF\r\n\x1a\n  version  ...  offsets 13  lengths 14  ...  [1: 4 bytes more]
 *                    base 24  free 32  end 40  driver 48  root: name 56, object header 64
 *     version 2, 3   \x89HDF\r\n\x1a\n  version  offsets 9  lengths 10  flags 11
 *                    base 12  extension 20  end 28  root's object header 36  checksum 44 */
#include "data/hdf5_file.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/little.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { SUPERBLOCK = 76, NEWER = 48 }; /* bytes of one that we look at; of versions 2 and 3 */

psd_status psd_hdf5_file_damaged(const struct psd_hdf5_file *file, uint64_t at, const char *reason)
{
    return psd_fail(PSD_ECONFIG, "%s: byte %" PRIu64 ": %s", file->path, file->base + at, reason);
}

psd_status psd_hdf5_file_unknown(const struct psd_hdf5_file *file, uint64_t at, const char *reason)
{
    return psd_fail(PSD_ENOSUP, "%s: byte %" PRIu64 ": %s", file->path, file->base + at, reason);
}

static psd_status check_range(const struct psd_hdf5_file *file, uint64_t at, uint64_t size)
{
    if (at <= file->size && size <= file->size - at)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG,
                    "%s: %" PRIu64 " bytes should stand at byte %" PRIu64
                    ", but the file has %" PRIu64,
                    file->path, size, at, file->size);
}

psd_status psd_hdf5_file_read(const struct psd_hdf5_file *file, uint64_t at, void *to, size_t size)
{
    size_t done = 0;

    PSD_TRY(check_range(file, at, size));
    while (done < size) {
        ssize_t got =
            pread(file->fd, (char *)to + done, size - done, (off_t)(file->base + at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return psd_fail(PSD_ECONFIG, "cannot read %s: %s", file->path, strerrordesc_np(errno));
        if (got == 0)
            return psd_fail(PSD_ECONFIG, "%s became shorter while it was read", file->path);
        done += (size_t)got;
    }
    return PSD_OK;
}

psd_status psd_hdf5_file_load(const struct psd_hdf5_file *file, uint64_t at, uint64_t size,
                              unsigned char **out)
{
    PSD_TRY(check_range(file, at, size));
    unsigned char *bytes = psd_alloc((size_t)size);
    if (!bytes)
        return PSD_ENOMEM;
    psd_status status = psd_hdf5_file_read(file, at, bytes, (size_t)size);
    if (status == PSD_OK)
        *out = bytes;
    else
        psd_alloc_free(bytes);
    return status;
}

/* The superblock is at byte 0, or at 512, 1024, 2048 and so on. */
static psd_status find_superblock(struct psd_hdf5_file *file, uint64_t size)
{
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

    file->size = size;
    for (uint64_t at = 0; at + NEWER <= size; at = at ? 2 * at : 512) {
        unsigned char head[sizeof mark];
        PSD_TRY(psd_hdf5_file_read(file, at, head, sizeof head));
        if (memcmp(head, mark, sizeof mark) == 0) {
            file->base = at;
            file->size = size - at;
            return PSD_OK;
        }
    }
    return psd_fail(PSD_ECONFIG, "%s is no HDF5 file", file->path);
}

static psd_status check_widths(const struct psd_hdf5_file *file, const unsigned char *widths)
{
    if (widths[0] == 8 && widths[1] == 8)
        return PSD_OK;
    return psd_hdf5_file_unknown(file, 0,
                                 "addresses and lengths of other than 8 bytes are not read");
}

/* A file is as long as it says, or a part of it is missing. */
static psd_status check_end(const struct psd_hdf5_file *file, uint64_t base, uint64_t end)
{
    if (base != file->base)
        return psd_hdf5_file_damaged(file, 0, "the superblock says that it stands elsewhere");
    if (end > file->size + base || end < base)
        return psd_fail(PSD_ECONFIG,
                        "%s has %" PRIu64 " bytes and should have %" PRIu64
                        "; perhaps a copy that broke off",
                        file->path, file->size + base, end);
    return PSD_OK;
}

static psd_status read_superblock(struct psd_hdf5_file *file)
{
    unsigned char bytes[SUPERBLOCK] = {0};
    size_t size = file->size < SUPERBLOCK ? (size_t)file->size : SUPERBLOCK;

    PSD_TRY(psd_hdf5_file_read(file, 0, bytes, size));
    unsigned version = bytes[8];
    if (version > 3)
        return psd_hdf5_file_unknown(file, 8, "a superblock of a version above 3 is not read");
    bool newer = version >= 2;
    size_t at = newer ? 12 : version == 1 ? 28 : 24;
    if (size < (newer ? NEWER : at + 48))
        return psd_hdf5_file_damaged(file, 0, "the file ends in its superblock");
    PSD_TRY(check_widths(file, bytes + (newer ? 9 : 13)));
    PSD_TRY(check_end(file, psd_little_get(bytes + at, 8), psd_little_get(bytes + at + 16, 8)));
    file->root = psd_little_get(bytes + at + (newer ? 24 : 40), 8);
    return PSD_OK;
}

static psd_status open_found(struct psd_hdf5_file *file)
{
    uint64_t size;

    PSD_TRY(psd_file_descriptor(file->path, &file->fd, &size));
    psd_status status =
        size == PSD_FILE_STREAM
            ? psd_fail(PSD_ECONFIG, "%s is a stream; HDF5 is read from files", file->path)
            : find_superblock(file, size);
    if (status == PSD_OK)
        status = read_superblock(file);
    if (status != PSD_OK)
        close(file->fd);
    return status;
}

psd_status psd_hdf5_file_open(const char *path, struct psd_hdf5_file *out)
{
    struct psd_hdf5_file file = {.path = psd_alloc_text("%s", path)};

    if (!file.path)
        return PSD_ENOMEM;
    psd_status status = open_found(&file);
    if (status == PSD_OK)
        *out = file;
    else
        psd_alloc_free(file.path);
    return status;
}

void psd_hdf5_file_close(struct psd_hdf5_file *file)
{
    close(file->fd);
    psd_alloc_free(file->path);
}
