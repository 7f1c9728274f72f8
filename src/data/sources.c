/* sources.c - the one list of the ways of keeping records. */
#include "data/sources.h"

#include <stdio.h>
#include <string.h>

static const struct psd_source_kind *const kinds[] = {
    &psd_source_lmdb,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

psd_status psd_sources_find(const char *name, const struct psd_source_kind **out)
{
    char known[200] = "";
    size_t used = 0;

    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i]->name, name) == 0) {
            *out = kinds[i];
            return PSD_OK;
        }
        int length =
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", kinds[i]->name);
        used += length > 0 && (size_t)length < sizeof known - used ? (size_t)length : 0;
    }
    return psd_fail(PSD_ENOSUP, "this build cannot read records from %s; it knows: %s", name,
                    known);
}
