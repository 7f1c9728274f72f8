/* path.c - two places to look, in Caffe's order. */
#include "base/path.h"
#include "base/alloc.h"

#include <string.h>
#include <unistd.h>

/* `named` seen from the folder of `in`; NULL without a sentence when that is the same place. */
static psd_status beside(const char *named, const char *in, char **out)
{
    const char *slash = in ? strrchr(in, '/') : NULL;

    *out = NULL;
    if (named[0] == '/' || !slash)
        return PSD_OK;
    *out = psd_alloc_text("%.*s%s", (int)(slash - in + 1), in, named);
    return *out ? PSD_OK : PSD_ENOMEM;
}

psd_status psd_path_find(const char *named, const char *in, char **out)
{
    char *second = NULL;
    psd_status status = PSD_OK;

    if (access(named, F_OK) == 0) {
        char *copy = psd_alloc_copy(named, strlen(named) + 1);
        if (!copy)
            return PSD_ENOMEM;
        *out = copy;
        return PSD_OK;
    }
    PSD_TRY(beside(named, in, &second));
    if (second && access(second, F_OK) == 0) {
        *out = second;
        return PSD_OK;
    }
    if (second)
        status = psd_fail(PSD_ECONFIG, "%s names %s, but there is neither %s nor %s", in, named,
                          named, second);
    else if (in)
        status = psd_fail(PSD_ECONFIG, "%s names %s, but there is no such file", in, named);
    else
        status = psd_fail(PSD_ECONFIG, "there is no file %s", named);
    psd_alloc_free(second);
    return status;
}
