/* file.h - files read and written with care.
 *
 *     reading   open -> is it a file at all? how long? -> whole contents, or bytes front to back
 *     writing   NAME.tmp-1234 -> written, synced -> renamed to NAME
 *
 * A reader never sees half a file, and an old file stays whole until the new one is. What is not a
 * regular file (a pipe, standard input as "-") is read too, up to a limit. */
#ifndef PSD_BASE_FILE_H
#define PSD_BASE_FILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest thing without a known length that is read whole. */
#define PSD_FILE_STREAM_LIMIT ((size_t)256 << 20)

/* A file's contents. */
struct psd_file {
    const char *data; /* owned; size bytes and no NUL behind them */
    size_t size;
};

/* The length of what has none. */
#define PSD_FILE_STREAM UINT64_MAX

/* Opens a file or a stream for reading; "-" is standard input. The caller closes *fd. *size is
 * PSD_FILE_STREAM for what is not a regular file, or has been read in part. A missing file and a
 * directory are PSD_ECONFIG. */
psd_status psd_file_descriptor(const char *path, int *fd, uint64_t *size);

/* Reads all of what *fd stands for; `path` is for sentences. The caller owns *out until
 * psd_file_close. A stream without end is PSD_ECONFIG. */
psd_status psd_file_load(int fd, const char *path, struct psd_file *out);

/* Both steps at once. */
psd_status psd_file_open(const char *path, struct psd_file *out);
void psd_file_close(struct psd_file *file);

/* Reads exactly `size` bytes; `path` is for the sentence. */
psd_status psd_file_read(int fd, const char *path, void *to, size_t size);

/* A file that appears under its name only when it is complete. */
struct psd_file_writer;

/* Starts a new version of `path`; "-" is standard output, and a device or pipe is written directly.
 * The caller owns *out until commit or abandon. */
psd_status psd_file_create(const char *path, struct psd_file_writer **out);

/* Adds bytes. After a failure it returns false and does nothing, and commit says what went wrong. */
bool psd_file_write(struct psd_file_writer *writer, const void *data, size_t size);

/* Syncs, gives the file its name and frees the writer. On failure what stood under the name before
 * is untouched. */
psd_status psd_file_commit(struct psd_file_writer *writer);

/* The same for several files, which get their names together, the last one last. On failure none has, and
 * what stood under the names before is there again. All writers are freed. */
psd_status psd_file_commit_all(struct psd_file_writer *const *writers, size_t count);

/* Removes what was written and frees the writer; NULL is fine. */
void psd_file_abandon(struct psd_file_writer *writer);

#endif
