/* bad.c - a bit for each record. */
#include "data/bad.h"
#include "base/alloc.h"
#include "proto/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double default_share = 0.001;

static bool parse_count(const char *text, struct psd_bad_limit *limit)
{
    char *end = NULL;

    limit->kind = PSD_BAD_COUNT;
    errno = 0;
    limit->count = strtoull(text, &end, 10);
    return *end == 0 && errno == 0;
}

static bool parse_share(const char *text, struct psd_bad_limit *limit)
{
    size_t digits = strspn(text, "0123456789.");
    double percent = 0;

    if (strcmp(text + digits, "%") != 0 || !psd_number_double(text, digits, &percent))
        return false;
    limit->kind = PSD_BAD_SHARE;
    limit->share = percent / 100;
    return percent <= 100;
}

psd_status psd_bad_parse(const char *text, struct psd_bad_limit *out)
{
    struct psd_bad_limit limit = {0};
    bool is_share = strchr(text, '%') != NULL;

    if (text[0] < '0' || text[0] > '9' ||
        !(is_share ? parse_share(text, &limit) : parse_count(text, &limit)))
        return psd_fail(PSD_ECONFIG,
                        "\"%s\" is neither a number of records nor a share such as "
                        "0.5%%",
                        text);
    *out = limit;
    return PSD_OK;
}

/* Decimal fractions are a little off in binary; 0.7 % of 1000 is 7 all the same. */
static uint64_t share_of(double share, uint64_t records)
{
    return (uint64_t)floor(share * (double)records * (1 + 4 * DBL_EPSILON));
}

psd_status psd_bad_init(struct psd_bad *bad, uint64_t records, const struct psd_bad_limit *limit)
{
    double share = limit->kind == PSD_BAD_SHARE ? limit->share : default_share;
    uint64_t *bits = psd_alloc_zero(records / 64 + 1, sizeof *bits);

    if (!bits)
        return PSD_ENOMEM;
    *bad = (struct psd_bad){.bits = bits, .most = limit->count};
    if (limit->kind != PSD_BAD_COUNT)
        bad->most = share_of(share, records);
    return PSD_OK;
}

void psd_bad_fini(struct psd_bad *bad)
{
    psd_alloc_free(bad->bits);
    *bad = (struct psd_bad){0};
}

bool psd_bad_has(const struct psd_bad *bad, uint64_t index)
{
    return bad->bits[index / 64] >> index % 64 & 1;
}

bool psd_bad_add(struct psd_bad *bad, uint64_t index)
{
    if (!psd_bad_has(bad, index))
        bad->count++;
    bad->bits[index / 64] |= UINT64_C(1) << index % 64;
    return bad->count <= bad->most;
}
