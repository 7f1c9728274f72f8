/* snapshot_find.c - which snapshot of a solver is the newest. */
#include "base/alloc.h"
#include "engine/solver.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number in PREFIX_iter_N.solverstate; -1: there is none. */
static long long iteration_of(const char *path, size_t prefix)
{
    char *end = NULL;
    long long number = strtoll(path + prefix + strlen("_iter_"), &end, 10);

    return strcmp(end, ".solverstate") == 0 ? number : -1;
}

/* Letters that a pattern would take for more than themselves get a backslash. */
static char *escape(const char *text)
{
    char *out = psd_alloc(2 * strlen(text) + 1), *to = out;

    for (; out && *text; text++) {
        if (strchr("*?[]\\", *text))
            *to++ = '\\';
        *to++ = *text;
    }
    if (out)
        *to = '\0';
    return out;
}

psd_status psd_solver_newest(const struct psd_document *document, char **out)
{
    char *prefix = NULL;
    long long newest = -1;
    glob_t found = {0};

    *out = NULL;
    PSD_TRY(psd_solver_prefix(document, &prefix));
    char *escaped = escape(prefix);
    char *pattern = escaped ? psd_alloc_text("%s_iter_*.solverstate", escaped) : NULL;
    psd_status status = pattern ? PSD_OK : PSD_ENOMEM;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): without ~ it asks nothing that others change */
    if (pattern && glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            long long number = iteration_of(found.gl_pathv[i], strlen(prefix));
            newest = number > newest ? number : newest;
        }
        globfree(&found);
    }
    if (newest >= 0) {
        *out = psd_alloc_text("%s_iter_%lld.solverstate", prefix, newest);
        status = *out ? PSD_OK : PSD_ENOMEM;
    }
    psd_alloc_free(pattern);
    psd_alloc_free(escaped);
    psd_alloc_free(prefix);
    return status;
}
