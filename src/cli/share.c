/* share.c - beside the program, in one of two places. */
#include "cli/share.h"
#include "base/alloc.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ending[] = ".txt";

static psd_status copy_path(const char *path, char **out)
{
    char *copy = psd_alloc_text("%s", path);

    if (!copy)
        return PSD_ENOMEM;
    *out = copy;
    return PSD_OK;
}

/* The folder with the program's files, installed or not; "" when there is none. */
static void find_folder(const char *program, const char *folder, char out[PATH_MAX])
{
    static const char *const places[] = {"../share/poseidon", "../../models"};
    char real[PATH_MAX], path[2 * PATH_MAX];

    out[0] = 0;
    if (!realpath(program ? program : "/proc/self/exe", real))
        return;
    *strrchr(real, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", real, places[i], folder);
        if (realpath(path, out))
            return;
    }
    out[0] = 0; /* what a failed realpath leaves there means nothing */
}

static int is_data(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > strlen(ending) && strcmp(entry->d_name + length - strlen(ending), ending) == 0;
}

/* The names of the files in a folder, "lenet, vgg16, vgg19", as many as have room. */
static void list_names(const char *path, char *out, size_t room)
{
    struct dirent **entries = NULL;
    int count = *path ? scandir(path, &entries, is_data, alphasort) : 0;
    size_t used = 0;

    out[0] = 0;
    for (int i = 0; i < count; i++) {
        int length = (int)(strlen(entries[i]->d_name) - strlen(ending));
        if (used < room)
            used += (size_t)snprintf(out + used, room - used, "%s%.*s", used ? ", " : "", length,
                                     entries[i]->d_name);
        free(entries[i]);
    }
    free((void *)entries);
}

static psd_status refuse(const char *path, const char *folder, const char *name)
{
    char names[1000];

    list_names(path, names, sizeof names);
    if (*names)
        return psd_fail(PSD_ECONFIG,
                        "there is no file %.1000s, and of the %s here none has that name: %s", name,
                        folder, names);
    return psd_fail(PSD_ECONFIG, "there is no file %.1000s, and this program came without %s", name,
                    folder);
}

psd_status psd_share_find(const char *program, const char *folder, const char *name, char **out)
{
    char path[PATH_MAX], file[2 * PATH_MAX];

    if (access(name, F_OK) == 0)
        return copy_path(name, out);
    if (strchr(name, '/'))
        return psd_fail(PSD_ECONFIG, "there is no file %s", name);
    find_folder(program, folder, path);
    snprintf(file, sizeof file, "%s/%s%s", path, name, ending);
    if (*path && access(file, F_OK) == 0)
        return copy_path(file, out);
    return refuse(path, folder, name);
}
