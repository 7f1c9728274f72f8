/* bad.h - records that cannot be used: which they are, and how many are too many.
 *
 *     psd_bad_parse("0.5%", &limit)        --max-bad: a number of records, or a share of them
 *     psd_bad_init(&bad, count, &limit)
 *     psd_bad_add(&bad, index)             false: that was one too many
 *
 * A record is bad once and for all, so it is counted once however often its turn comes. One thread
 * at a time. */
#ifndef PSD_DATA_BAD_H
#define PSD_DATA_BAD_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* How many bad records are borne. All zero is the default, 0.1 %. */
struct psd_bad_limit {
    enum { PSD_BAD_DEFAULT, PSD_BAD_COUNT, PSD_BAD_SHARE } kind;
    uint64_t count; /* PSD_BAD_COUNT: of records */
    double share;   /* PSD_BAD_SHARE: of all records, from 0 to 1 */
};

/* Understands "20" and "0.5%". PSD_ECONFIG: `text` is neither. */
psd_status psd_bad_parse(const char *text, struct psd_bad_limit *out);

struct psd_bad {
    uint64_t *bits; /* owned; one for each record */
    uint64_t count; /* of bad records so far */
    uint64_t most;  /* that are borne */
};

/* For `records` records, all good so far. */
psd_status psd_bad_init(struct psd_bad *bad, uint64_t records, const struct psd_bad_limit *limit);
void psd_bad_fini(struct psd_bad *bad);

bool psd_bad_has(const struct psd_bad *bad, uint64_t index);

/* Notes that a record is bad; false when there are now more than are borne. */
bool psd_bad_add(struct psd_bad *bad, uint64_t index);

#endif
