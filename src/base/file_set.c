/* file_set.c - several files get their names together, or none of them does.
 *
 *     all are on the disk, under temporary names
 *     old files of their names step aside     the last one first
 *     new files get the names                 the last one last: where it is, the others are its own
 *     old files go; after a failure the new ones go, and the old ones come back
 */
#include "base/alloc.h"
#include "base/file_writer.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static psd_status step_aside(struct psd_file_writer *writer)
{
    struct stat about;

    if (!writer->temporary || lstat(writer->path, &about) != 0 || !S_ISREG(about.st_mode))
        return PSD_OK;
    char *aside = psd_alloc_text("%s.old-%ld", writer->path, (long)getpid());
    if (!aside)
        return PSD_ENOMEM;
    if (rename(writer->path, aside) != 0) {
        writer->error = errno;
        psd_alloc_free(aside);
        return psd_file_writer_fail(writer);
    }
    writer->aside = aside;
    return PSD_OK;
}

static void come_back(struct psd_file_writer *writer)
{
    if (!writer->aside || rename(writer->aside, writer->path) != 0)
        return;
    psd_alloc_free(writer->aside);
    writer->aside = NULL;
}

/* An old file that cannot come back is still there, and its new name is told. */
static psd_status undo(struct psd_file_writer *const *writers, size_t count, psd_status status)
{
    for (size_t i = count; i-- > 0;) {
        if (writers[i]->named)
            unlink(writers[i]->path);
    }
    for (size_t i = 0; i < count; i++) {
        char why[500];
        come_back(writers[i]);
        if (!writers[i]->aside)
            continue;
        snprintf(why, sizeof why, "%s", psd_error());
        psd_fail(status, "%s; the old file is now %s", why, writers[i]->aside);
    }
    return status;
}

static void settle(struct psd_file_writer *const *writers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        psd_file_writer_keep(writers[i]);
    for (size_t i = 0; i < count; i++) {
        if (writers[i]->aside)
            unlink(writers[i]->aside);
    }
}

static psd_status name_all(struct psd_file_writer *const *writers, size_t count)
{
    for (size_t i = count; i-- > 0;)
        PSD_TRY(step_aside(writers[i]));
    for (size_t i = 0; i < count; i++)
        PSD_TRY(psd_file_writer_name(writers[i]));
    return PSD_OK;
}

psd_status psd_file_commit_all(struct psd_file_writer *const *writers, size_t count)
{
    psd_status status = PSD_OK;

    for (size_t i = 0; i < count && status == PSD_OK; i++)
        status = psd_file_writer_finish(writers[i]);
    if (status == PSD_OK)
        status = name_all(writers, count);
    if (status == PSD_OK)
        settle(writers, count);
    else
        status = undo(writers, count, status);
    for (size_t i = 0; i < count; i++)
        psd_file_abandon(writers[i]);
    return status;
}
