/* scratch.h - a folder of the test's own, below $TMPDIR.
 *
 *     scratch("train_lmdb")      "/tmp/psd-test.x7Hs2a/train_lmdb", valid for the next few calls
 *
 * tools/run-tests points $TMPDIR to a place that it removes afterwards. */
#ifndef PSD_TESTS_SCRATCH_H
#define PSD_TESTS_SCRATCH_H

#include "test.h"

#include <limits.h>

static inline const char *scratch(const char *name)
{
    static char folder[PATH_MAX / 2], paths[8][PATH_MAX];
    static unsigned calls;
    char *path = paths[calls++ % 8];

    if (!*folder) {
        const char *place = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread yet */
        snprintf(folder, sizeof folder, "%s/psd-test.XXXXXX", place ? place : "/tmp");
        CHECK(mkdtemp(folder));
    }
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

/* Makes a file of these bytes in the folder. */
static inline const char *scratch_file(const char *name, const void *bytes, size_t size)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(bytes, 1, size, file) == size);
    CHECK(fclose(file) == 0);
    return path;
}

#endif
