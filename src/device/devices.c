/* devices.c - the kinds of device that are compiled in; the only place that asks which. */
#include "device/devices.h"
#include "base/status.h"
#include "base/suggest.h"
#include "device/kind.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct psd_device_kind *const kinds[] = {
    /* in order of preference */
    &psd_device_kind_host,
};

enum { KINDS = sizeof kinds / sizeof *kinds };

void psd_devices_describe(const struct psd_device_kind *kind, size_t index,
                          struct psd_device_entry *out)
{
    snprintf(out->name, sizeof out->name, "%s:%zu", kind->name, index);
    kind->describe(index, out->description, sizeof out->description);
}

bool psd_devices_list(size_t i, struct psd_device_entry *out)
{
    for (size_t k = 0; k < KINDS; k++) {
        size_t count = kinds[k]->count();
        if (i < count) {
            psd_devices_describe(kinds[k], i, out);
            return true;
        }
        i -= count;
    }
    return false;
}

static psd_status no_such_kind(const char *name, size_t length)
{
    char known[256] = "";
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, name, length);
    for (size_t k = 0; k < KINDS; k++) {
        size_t used = strlen(known);
        psd_suggest_offer(&suggest, kinds[k]->name);
        snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", kinds[k]->name);
    }
    const char *best = psd_suggest_best(&suggest);
    return psd_fail(PSD_ECONFIG, "there is no kind of device \"%.*s\"; this build has: %s%s%s%s",
                    (int)length, name, known, best ? ". Did you mean \"" : "", best ? best : "",
                    best ? "\"?" : "");
}

static const struct psd_device_kind *find_kind(const char *name, size_t length)
{
    for (size_t k = 0; k < KINDS; k++) {
        if (strlen(kinds[k]->name) == length && memcmp(kinds[k]->name, name, length) == 0)
            return kinds[k];
    }
    return NULL;
}

psd_status psd_devices_parse(const char *name, const struct psd_device_kind **kind, size_t *index)
{
    size_t length = strcspn(name, ":");
    const struct psd_device_kind *found = find_kind(name, length);
    const char *number = name[length] ? name + length + 1 : "0";
    char *end;

    if (!found)
        return no_such_kind(name, length);
    unsigned long long value = strtoull(number, &end, 10);
    if (!isdigit((unsigned char)*number) || *end)
        return psd_fail(PSD_ECONFIG, "device \"%s\": \"%s\" is not an index, such as in %s:0", name,
                        number, found->name);
    size_t count = found->count();
    if (value >= count)
        return psd_fail(PSD_ECONFIG, "there is no device %s: of kind %s this machine has %zu%s",
                        name, found->name, count, count ? ", counted from 0" : "");
    *kind = found;
    *index = (size_t)value;
    return PSD_OK;
}
