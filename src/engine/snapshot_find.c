/* snapshot_find.c - which snapshot of a solver is the newest. */
#include "base/alloc.h"
#include "engine/solver.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A .solverstate. Its iteration alone does not tell its age: the folder may have those of other runs. */
struct found {
    const char *path; /* NULL: none yet */
    long long iteration;
    struct timespec written;
};

/* The number in PREFIX_iter_N.solverstate or ...solverstate.h5; -1: there is none. */
static long long iteration_of(const char *path, size_t prefix)
{
    char *end = NULL;
    long long number = strtoll(path + prefix + strlen("_iter_"), &end, 10);

    return strcmp(end, ".solverstate") == 0 || strcmp(end, ".solverstate.h5") == 0 ? number : -1;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Those that are equally old count by their iterations. */
static void consider(const char *path, size_t prefix, const struct timespec *since,
                     struct found *newest)
{
    struct found one = {.path = path, .iteration = iteration_of(path, prefix)};
    struct stat about;

    if (one.iteration < 0 || stat(path, &about) != 0)
        return;
    one.written = about.st_mtim;
    if ((since && is_before(&one.written, since)) ||
        (newest->path && is_before(&one.written, &newest->written)))
        return;
    if (!newest->path || is_before(&newest->written, &one.written) ||
        one.iteration > newest->iteration)
        *newest = one;
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

/* All that could be one, for the caller to free; where there is none it is empty. */
static psd_status list(const char *prefix, glob_t *out)
{
    char *escaped = escape(prefix);
    char *pattern = escaped ? psd_alloc_text("%s_iter_*.solverstate*", escaped) : NULL;

    *out = (glob_t){0};
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): without ~ it asks nothing that others change */
    if (pattern && glob(pattern, 0, NULL, out) != 0) {
        globfree(out);
        *out = (glob_t){0};
    }
    psd_alloc_free(escaped);
    psd_status status = pattern ? PSD_OK : PSD_ENOMEM;
    psd_alloc_free(pattern);
    return status;
}

psd_status psd_solver_newest(const struct psd_document *document, const struct timespec *since,
                             char **out)
{
    struct found newest = {0};
    char *prefix = NULL;
    glob_t all = {0};

    *out = NULL;
    PSD_TRY(psd_solver_prefix(document, &prefix));
    psd_status status = list(prefix, &all);
    for (size_t i = 0; i < all.gl_pathc; i++)
        consider(all.gl_pathv[i], strlen(prefix), since, &newest);
    if (newest.path) {
        *out = psd_alloc_text("%s", newest.path);
        status = *out ? PSD_OK : PSD_ENOMEM;
    }
    globfree(&all);
    psd_alloc_free(prefix);
    return status;
}
