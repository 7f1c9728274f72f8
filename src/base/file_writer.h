/* file_writer.h - the steps in which a file that is written gets its name; only for file_writer.c and
 * file_set.c. */
#ifndef PSD_BASE_FILE_WRITER_H
#define PSD_BASE_FILE_WRITER_H

#include "base/file.h"

enum { PSD_FILE_BUFFER = 256 << 10 };

struct psd_file_writer {
    char *path;      /* owned; the name in the end */
    char *temporary; /* owned; the name until then, NULL when written directly */
    char *aside;     /* owned; where what had the name is meanwhile; NULL: under the name */
    bool named;      /* it has its name */
    int fd;          /* owned; -1: closed */
    int error;       /* the first errno; 0 while all is well */
    size_t used;     /* bytes waiting in buffer */
    char buffer[PSD_FILE_BUFFER];
};

/* Fails with the writer's error. */
psd_status psd_file_writer_fail(const struct psd_file_writer *writer);

/* Brings all bytes to the disk and closes the file: a disk that is full says so here at the latest. */
psd_status psd_file_writer_finish(struct psd_file_writer *writer);

/* Gives the file its name, in place of what has it. */
psd_status psd_file_writer_name(struct psd_file_writer *writer);

/* Makes names last, as far as the file system can. */
void psd_file_writer_keep(const struct psd_file_writer *writer);

#endif
