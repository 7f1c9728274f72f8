/* hdf5.c - files, and the names in them. */
#include "data/hdf5.h"
#include "base/alloc.h"
#include "data/hdf5_dataset.h"
#include "data/hdf5_group.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct psd_hdf5 {
    struct psd_hdf5_file file; /* owned */
};

bool psd_hdf5_is(const char *path)
{
    static const char mark[] = "\x89HDF\r\n\x1a\n", ending[] = ".h5";
    char head[sizeof mark - 1] = "";
    size_t length = strlen(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    bool is =
        pread(fd, head, sizeof head, 0) == sizeof head && memcmp(head, mark, sizeof head) == 0;
    close(fd);
    return is || (length >= strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0);
}

psd_status psd_hdf5_open(const char *path, struct psd_hdf5 **out)
{
    struct psd_hdf5 *file = psd_alloc_zero(1, sizeof *file);

    if (!file)
        return PSD_ENOMEM;
    psd_status status = psd_hdf5_file_open(path, &file->file);
    if (status == PSD_OK)
        *out = file;
    else
        psd_alloc_free(file);
    return status;
}

void psd_hdf5_close(struct psd_hdf5 *file)
{
    if (!file)
        return;
    psd_hdf5_file_close(&file->file);
    psd_alloc_free(file);
}

/* The address of what is at `path`, which has to be there. */
static psd_status find(const struct psd_hdf5 *file, const char *path, uint64_t *out)
{
    PSD_TRY(psd_hdf5_group_find(&file->file, file->file.root, path, out));
    if (*out != PSD_HDF5_NOWHERE)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG, "%s: there is no \"%s\" in it", file->file.path, path);
}

psd_status psd_hdf5_has(const struct psd_hdf5 *file, const char *path, bool *out)
{
    uint64_t at;

    PSD_TRY(psd_hdf5_group_find(&file->file, file->file.root, path, &at));
    *out = at != PSD_HDF5_NOWHERE;
    return PSD_OK;
}

/* --- names -------------------------------------------------------------------------------------- */

struct listing {
    const struct psd_hdf5_file *file;
    struct psd_hdf5_names names;
};

static psd_status add_name(void *context, const char *name, size_t length, uint64_t at)
{
    struct listing *listing = context;
    struct psd_hdf5_names *names = &listing->names;
    bool is_group = false;

    if (at != PSD_HDF5_NOWHERE)
        PSD_TRY(psd_hdf5_group_is(listing->file, at, &is_group));
    struct psd_hdf5_name *all = psd_alloc_grow(names->all, names->count, sizeof *all);
    if (!all)
        return PSD_ENOMEM;
    names->all = all;
    char *text = psd_alloc_text("%.*s", (int)length, name);
    if (!text)
        return PSD_ENOMEM;
    all[names->count++] = (struct psd_hdf5_name){text, is_group};
    return PSD_OK;
}

psd_status psd_hdf5_names(const struct psd_hdf5 *file, const char *path, struct psd_hdf5_names *out)
{
    struct listing listing = {.file = &file->file};
    uint64_t at;

    PSD_TRY(find(file, path, &at));
    psd_status status = psd_hdf5_group_read(&file->file, at, add_name, &listing);
    if (status == PSD_OK)
        *out = listing.names;
    else
        psd_hdf5_names_fini(&listing.names);
    return status;
}

void psd_hdf5_names_fini(struct psd_hdf5_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        psd_alloc_free(names->all[i].text);
    psd_alloc_free(names->all);
    *names = (struct psd_hdf5_names){0};
}

psd_status psd_hdf5_dataset_open(const struct psd_hdf5 *file, const char *path,
                                 struct psd_hdf5_dataset **out)
{
    uint64_t at;

    PSD_TRY(find(file, path, &at));
    return psd_hdf5_dataset_open_at(&file->file, at, path, out);
}
