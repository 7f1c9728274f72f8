/* file.c - reading whole files, into memory and never by a map: a mapped file that somebody shortens
 * ends the program. What may be large is read in pieces (proto/bytes.h). */
#include "base/file.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a path is called in sentences. */
static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static psd_status fail_to(const char *verb, const char *path)
{
    return psd_fail(PSD_ECONFIG, "cannot %s %s: %s", verb, name_of(path), strerrordesc_np(errno));
}

psd_status psd_file_descriptor(const char *path, int *fd, uint64_t *size)
{
    struct stat about = {0};
    int opened =
        strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (opened < 0)
        return fail_to("open", path);
    if (fstat(opened, &about) != 0) {
        psd_status status = fail_to("read", path);
        close(opened);
        return status;
    }
    if (S_ISDIR(about.st_mode)) {
        close(opened);
        return psd_fail(PSD_ECONFIG, "%s is a directory, not a file", name_of(path));
    }
    *fd = opened;
    bool whole = S_ISREG(about.st_mode) && lseek(opened, 0, SEEK_CUR) == 0;
    *size = whole ? (uint64_t)about.st_size : PSD_FILE_STREAM;
    return PSD_OK;
}

psd_status psd_file_read(int fd, const char *path, void *to, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = read(fd, (char *)to + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_to("read", path);
        if (got == 0)
            return psd_fail(PSD_ECONFIG, "%s became shorter while it was read", name_of(path));
        done += (size_t)got;
    }
    return PSD_OK;
}

/* Reads until the end of something whose length is not known. */
static psd_status read_stream(int fd, const char *path, struct psd_file *out)
{
    char *data = NULL;
    size_t size = 0, room = 0;

    for (;;) {
        if (size == room) {
            room = room ? 2 * room : 64 << 10;
            char *more = room > PSD_FILE_STREAM_LIMIT ? NULL : psd_alloc_resize(data, room, 1);
            if (!more) {
                psd_alloc_free(data);
                return room <= PSD_FILE_STREAM_LIMIT
                           ? PSD_ENOMEM
                           : psd_fail(PSD_ECONFIG,
                                      "%s has no end within %zu MiB; write it to a file first",
                                      name_of(path), PSD_FILE_STREAM_LIMIT >> 20);
            }
            data = more;
        }
        ssize_t got = read(fd, data + size, room - size);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR) {
            psd_alloc_free(data);
            return fail_to("read", path);
        }
        size += got > 0 ? (size_t)got : 0;
    }
    *out = (struct psd_file){.data = data, .size = size};
    return PSD_OK;
}

static psd_status read_regular(int fd, const char *path, size_t size, struct psd_file *out)
{
    char *data = psd_alloc(size);

    if (!data)
        return PSD_ENOMEM;
    psd_status status = psd_file_read(fd, path, data, size);
    if (status == PSD_OK)
        *out = (struct psd_file){.data = data, .size = size};
    else
        psd_alloc_free(data);
    return status;
}

psd_status psd_file_load(int fd, const char *path, struct psd_file *out)
{
    struct stat about;

    if (fstat(fd, &about) != 0)
        return fail_to("read", path);
    if (S_ISREG(about.st_mode) && about.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0)
        return read_regular(fd, path, (size_t)about.st_size, out);
    return read_stream(fd, path, out);
}

psd_status psd_file_open(const char *path, struct psd_file *out)
{
    uint64_t size = 0;
    int fd = -1;

    PSD_TRY(psd_file_descriptor(path, &fd, &size));
    psd_status status = psd_file_load(fd, path, out);
    close(fd);
    return status;
}

void psd_file_close(struct psd_file *file)
{
    psd_alloc_free((void *)(uintptr_t)file->data);
    *file = (struct psd_file){0};
}
