/* text_file.c - memory that is printed to, and then written. */
#include "cli/text_file.h"
#include "base/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static psd_status no_memory(void)
{
    return psd_fail(PSD_ENOMEM, "out of memory");
}

static bool is_stream(const char *path)
{
    struct stat about;

    return strcmp(path, "-") == 0 ||
           (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

psd_status psd_text_file_try(const char *path)
{
    struct psd_file_writer *writer = NULL;

    if (!path || is_stream(path))
        return PSD_OK;
    PSD_TRY(psd_file_create(path, &writer));
    psd_file_abandon(writer);
    return PSD_OK;
}

psd_status psd_text_file_begin(struct psd_text_file *file)
{
    *file = (struct psd_text_file){.out = NULL};
    file->out = open_memstream(&file->text, &file->size);
    return file->out ? PSD_OK : no_memory();
}

static psd_status write_all(const struct psd_text_file *file, const char *path)
{
    struct psd_file_writer *writer = NULL;

    PSD_TRY(psd_file_create(path, &writer));
    psd_file_write(writer, file->text, file->size);
    return psd_file_commit(writer);
}

psd_status psd_text_file_save(struct psd_text_file *file, const char *path)
{
    psd_status status = PSD_OK;
    bool complete = !ferror(file->out);

    complete &= fclose(file->out) == 0;
    if (path)
        status = complete ? write_all(file, path) : no_memory();
    free(file->text);
    return status;
}
