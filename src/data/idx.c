/* idx.c - all numbers are big-endian.
 *
 *     0  2  zero
 *     2  1  type: 8, unsigned bytes
 *     3  1  number of axes
 *     4  4  length of the first axis, and so on for each
 *           then the values, last axis fastest */
#include "data/idx.h"
#include "base/alloc.h"
#include "base/file.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { UNSIGNED_BYTES = 8, ITEM_MOST = 64 << 20, WINDOW = 256 << 10 };

/* What zlib or the system says about the latest read, without zlib's name for the file. */
static const char *reason(const struct psd_idx *idx)
{
    int code = Z_OK;
    const char *text = gzerror(idx->file, &code), *colon = strstr(text, ": ");

    if (code == Z_OK)
        return "it ends too early";
    return colon ? colon + 2 : text;
}

static psd_status read_bytes(struct psd_idx *idx, void *to, size_t size)
{
    if (gzread(idx->file, to, (unsigned)size) == (int)size)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG, "cannot read %s after %u of its %u items: %s", idx->path,
                    idx->done, idx->count, reason(idx));
}

static uint32_t big(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static psd_status read_header(struct psd_idx *idx, unsigned axes)
{
    uint8_t bytes[4 + 4 * PSD_IDX_AXES] = {0};
    const uint8_t magic[] = {0, 0, UNSIGNED_BYTES, (uint8_t)axes};

    if (gzread(idx->file, bytes, 4 + 4 * axes) != (int)(4 + 4 * axes) ||
        memcmp(bytes, magic, sizeof magic) != 0)
        return psd_fail(PSD_ECONFIG, "%s is not an idx file of %s", idx->path,
                        axes == 1 ? "labels" : "images");
    idx->count = big(bytes + 4);
    idx->rows = axes > 1 ? big(bytes + 8) : 1;
    idx->cols = axes > 2 ? big(bytes + 12) : 1;
    uint64_t size = (uint64_t)idx->rows * idx->cols;
    if (size == 0 || size > ITEM_MOST)
        return psd_fail(PSD_ECONFIG, "%s has images of %u x %u pixels", idx->path, idx->rows,
                        idx->cols);
    idx->item_size = (size_t)size;
    return PSD_OK;
}

static psd_status open_file(const char *path, struct psd_idx *idx)
{
    uint64_t size;
    int fd = -1;

    idx->path = psd_alloc_text("%s", path);
    if (!idx->path)
        return PSD_ENOMEM;
    PSD_TRY(psd_file_descriptor(path, &fd, &size)); /* its sentences are better than zlib's */
    idx->file = gzdopen(fd, "rb");
    if (idx->file)
        return gzbuffer(idx->file, WINDOW) == 0 ? PSD_OK : PSD_ENOMEM;
    close(fd);
    return psd_fail(PSD_ENOMEM, "there is no memory to read %s", path);
}

psd_status psd_idx_open(const char *path, unsigned axes, struct psd_idx **out)
{
    struct psd_idx *idx = psd_alloc_zero(1, sizeof *idx);

    if (!idx)
        return PSD_ENOMEM;
    psd_status status = open_file(path, idx);
    if (status == PSD_OK)
        status = read_header(idx, axes);
    if (status == PSD_OK)
        *out = idx;
    else
        psd_idx_close(idx);
    return status;
}

void psd_idx_close(struct psd_idx *idx)
{
    if (!idx)
        return;
    if (idx->file)
        gzclose(idx->file);
    psd_alloc_free(idx->path);
    psd_alloc_free(idx);
}

psd_status psd_idx_read(struct psd_idx *idx, void *item)
{
    PSD_TRY(read_bytes(idx, item, idx->item_size));
    idx->done++;
    return PSD_OK;
}

psd_status psd_idx_finish(struct psd_idx *idx)
{
    uint8_t byte;
    int code = Z_OK, got = gzread(idx->file, &byte, 1);

    gzerror(idx->file, &code);
    if (got > 0)
        return psd_fail(PSD_ECONFIG, "%s goes on after its %u items", idx->path, idx->count);
    if (code != Z_OK) /* also when only the checksum at the end is missing */
        return psd_fail(PSD_ECONFIG, "%s is damaged: %s", idx->path, reason(idx));
    return PSD_OK;
}
