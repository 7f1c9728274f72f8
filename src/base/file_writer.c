/* file_writer.c - a file that appears under its name only when it is complete. */
#include "base/file_writer.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void free_writer(struct psd_file_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    psd_alloc_free(writer->path);
    psd_alloc_free(writer->temporary);
    psd_alloc_free(writer->aside);
    psd_alloc_free(writer);
}

/* A device, pipe or terminal has no second version to rename. */
static bool is_stream(const char *path)
{
    struct stat about;
    return strcmp(path, "-") == 0 ||
           (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

static psd_status open_stream(struct psd_file_writer *writer)
{
    if (strcmp(writer->path, "-") == 0)
        writer->fd = dup(STDOUT_FILENO);
    else
        writer->fd = open(writer->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return writer->fd >= 0
               ? PSD_OK
               : psd_fail(PSD_ECONFIG, "cannot write %s: %s", writer->path, strerrordesc_np(errno));
}

/* The new file takes the place of a link's target, not of the link, and keeps the old file's mode.
 */
static psd_status open_temporary(struct psd_file_writer *writer)
{
    struct stat about;
    char *target = realpath(writer->path, NULL);
    bool replaces = stat(writer->path, &about) == 0;

    if (target) {
        psd_alloc_free(writer->path);
        writer->path = psd_alloc_copy(target, strlen(target) + 1);
        free(target);
        if (!writer->path)
            return PSD_ENOMEM;
    }
    if (replaces && S_ISDIR(about.st_mode))
        return psd_fail(PSD_ECONFIG, "cannot write %s: it is a directory", writer->path);
    writer->temporary = psd_alloc_text("%s.tmp-%ld", writer->path, (long)getpid());
    if (!writer->temporary)
        return PSD_ENOMEM;
    unlink(writer->temporary); /* of a run that was killed, or a link that somebody put there */
    writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                      replaces ? about.st_mode & 0777 : 0666);
    if (writer->fd >= 0)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG, "cannot write %s: %s", writer->path, strerrordesc_np(errno));
}

psd_status psd_file_create(const char *path, struct psd_file_writer **out)
{
    struct psd_file_writer *writer = psd_alloc(sizeof *writer);
    if (!writer)
        return PSD_ENOMEM;
    writer->path = psd_alloc_copy(path, strlen(path) + 1);
    writer->temporary = writer->aside = NULL;
    writer->named = false;
    writer->fd = -1;
    writer->error = 0;
    writer->used = 0;
    psd_status status = PSD_ENOMEM;
    if (writer->path)
        status = is_stream(path) ? open_stream(writer) : open_temporary(writer);
    if (status == PSD_OK)
        *out = writer;
    else
        free_writer(writer);
    return status;
}

static void write_through(struct psd_file_writer *writer, const char *data, size_t size)
{
    while (size && !writer->error) {
        ssize_t put = write(writer->fd, data, size);
        if (put < 0 && errno != EINTR)
            writer->error = errno;
        if (put > 0) {
            data += put;
            size -= (size_t)put;
        }
    }
}

static void flush(struct psd_file_writer *writer)
{
    write_through(writer, writer->buffer, writer->used);
    writer->used = 0;
}

bool psd_file_write(struct psd_file_writer *writer, const void *data, size_t size)
{
    if (size == 0)
        return !writer->error;
    if (size > PSD_FILE_BUFFER - writer->used)
        flush(writer);
    if (size > PSD_FILE_BUFFER) {
        write_through(writer, data, size);
        return !writer->error;
    }
    memcpy(writer->buffer + writer->used, data, size);
    writer->used += size;
    return !writer->error;
}

psd_status psd_file_writer_fail(const struct psd_file_writer *writer)
{
    bool standard = strcmp(writer->path, "-") == 0;

    return psd_fail(PSD_ECONFIG, "cannot write %s: %s", standard ? "standard output" : writer->path,
                    strerrordesc_np(writer->error));
}

psd_status psd_file_writer_finish(struct psd_file_writer *writer)
{
    flush(writer);
    if (!writer->error && writer->temporary && fsync(writer->fd) != 0)
        writer->error = errno;
    if (close(writer->fd) != 0 && !writer->error)
        writer->error = errno;
    writer->fd = -1;
    return writer->error ? psd_file_writer_fail(writer) : PSD_OK;
}

psd_status psd_file_writer_name(struct psd_file_writer *writer)
{
    if (!writer->temporary)
        return PSD_OK;
    if (rename(writer->temporary, writer->path) == 0) {
        writer->named = true;
        return PSD_OK;
    }
    writer->error = errno;
    return psd_file_writer_fail(writer);
}

/* A rename is safe on disk only after its folder is; where a file system cannot sync a folder,
 * nothing is lost by going on. */
void psd_file_writer_keep(const struct psd_file_writer *writer)
{
    const char *slash = strrchr(writer->path, '/');

    if (!writer->named)
        return;
    char *folder =
        slash ? psd_alloc_text("%.*s", (int)(slash - writer->path + 1), writer->path) : NULL;
    int fd =
        slash && !folder ? -1 : open(folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    psd_alloc_free(folder);
}

psd_status psd_file_commit(struct psd_file_writer *writer)
{
    psd_status status = psd_file_writer_finish(writer);

    if (status == PSD_OK)
        status = psd_file_writer_name(writer);
    if (status == PSD_OK)
        psd_file_writer_keep(writer);
    psd_file_abandon(writer);
    return status;
}

void psd_file_abandon(struct psd_file_writer *writer)
{
    if (!writer)
        return;
    if (writer->temporary && !writer->named)
        unlink(writer->temporary);
    free_writer(writer);
}
