/* settings_file.c - the first settings file there is, read up to a limit. */
#include "base/settings_file.h"
#include "base/alloc.h"
#include "base/settings_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT = 1 << 20 }; /* bytes of a settings file */

/* At most LIMIT bytes, so that a file without end costs no more than that. */
static psd_status read_bytes(int file, const char *path, char *bytes, size_t *size)
{
    for (*size = 0; *size <= LIMIT;) {
        ssize_t got = read(file, bytes + *size, LIMIT + 1 - *size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return psd_fail(PSD_ECONFIG, "cannot read %s: %s", path, strerrordesc_np(errno));
        if (got == 0)
            return PSD_OK;
        *size += (size_t)got;
    }
    return psd_fail(PSD_ECONFIG, "%s is larger than 1 MiB; is it a settings file?", path);
}

static psd_status read_file(struct psd_settings *settings, int file, const char *path,
                            struct psd_sentences *mistakes)
{
    size_t size = 0;
    char *bytes = psd_alloc(LIMIT + 1);

    if (!bytes)
        return PSD_ENOMEM;
    psd_status status = read_bytes(file, path, bytes, &size);
    if (status == PSD_OK)
        status = psd_settings_text_parse(settings, path, bytes, size, mistakes);
    else
        psd_sentences_add(mistakes, "%s", psd_error());
    psd_alloc_free(bytes);
    return status == PSD_ENOMEM ? status : PSD_OK;
}

/* A file that was named must be there. */
static psd_status load_named(struct psd_settings *settings, const char *path,
                             struct psd_sentences *mistakes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        psd_sentences_add(mistakes, "cannot open %s: %s", path, strerrordesc_np(errno));
        return PSD_OK;
    }
    psd_status status = read_file(settings, file, path, mistakes);
    close(file);
    return status;
}

static const char *variable(char *const *environment, const char *name)
{
    size_t length = strlen(name);

    for (; *environment; environment++) {
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return (*environment)[length + 1] ? *environment + length + 1 : NULL;
    }
    return NULL;
}

/* Takes the text `path` and frees it; *found says whether the search is over. */
static psd_status try_usual(struct psd_settings *settings, char *path, bool *found,
                            struct psd_sentences *mistakes, struct psd_sentences *warnings)
{
    psd_status status = PSD_OK;

    if (!path)
        return PSD_ENOMEM;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *found = file >= 0;
    if (file >= 0) {
        status = read_file(settings, file, path, mistakes);
        close(file);
    } else if (errno != ENOENT && errno != ENOTDIR) {
        psd_sentences_add(warnings, "cannot open %s: %s", path, strerrordesc_np(errno));
    }
    psd_alloc_free(path);
    return status;
}

psd_status psd_settings_file_load(struct psd_settings *settings, const char *path,
                                  char *const *environment, struct psd_sentences *mistakes,
                                  struct psd_sentences *warnings)
{
    const char *xdg = variable(environment, "XDG_CONFIG_HOME");
    const char *home = variable(environment, "HOME");
    bool found = false;

    if (!path)
        path = variable(environment, "PSD_CONFIG_FILE");
    if (path)
        return load_named(settings, path, mistakes);
    if (xdg && *xdg == '/')
        PSD_TRY(try_usual(settings, psd_alloc_text("%s/poseidon/poseidon.conf", xdg), &found,
                          mistakes, warnings));
    else if (home)
        PSD_TRY(try_usual(settings, psd_alloc_text("%s/.config/poseidon/poseidon.conf", home),
                          &found, mistakes, warnings));
    if (found)
        return PSD_OK;
    return try_usual(settings, psd_alloc_text("/etc/poseidon.conf"), &found, mistakes, warnings);
}
