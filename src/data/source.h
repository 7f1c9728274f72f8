/* source.h - where records come from: the contract, and the one way to use it.
 *
 *     psd_source_open("lmdb", "train_lmdb", &source);
 *     psd_source_read(source, i, &record);             any i below psd_source_count, any order
 *     psd_source_close(source);
 *
 * Workers share a source by index: each reads the records that are its own, from as many threads as
 * it likes, each into a record of its own. */
#ifndef PSD_DATA_SOURCE_H
#define PSD_DATA_SOURCE_H

#include "base/status.h"
#include "data/record.h"

#include <stdint.h>

struct psd_source; /* one open collection of records */

/* One way of keeping records. To add one, write a constant of this type and name it in sources.c.
 */
struct psd_source_kind {
    const char *name; /* "lmdb": what DataParameter.backend says, in lower case */

    /* Opens the records at `path`. The source owns *state until close; *count is how many there
     * are. May block. */
    psd_status (*open)(const char *path, void **state, uint64_t *count);

    /* Sets all of `record` but its room, which it may make larger: the key, so that people can be
     * told which one it is, also on failure if it is known; and the datum. The order of records is
     * that of Caffe, and never changes. Any thread; may block. PSD_ECONFIG: this record is damaged;
     * the others may be good. */
    psd_status (*read)(const void *state, uint64_t index, struct psd_record *record);

    /* Frees the state; no read is under way. */
    void (*close)(void *state);
};

/* Opens the records at `path`, which are kept in the way called `kind`. PSD_ENOSUP: this build
 * knows no such way; the sentence lists those it knows. PSD_ECONFIG: there are none, or damaged
 * ones. */
psd_status psd_source_open(const char *kind, const char *path, struct psd_source **out);
void psd_source_close(struct psd_source *source);

/* What was opened, for sentences. */
const char *psd_source_path(const struct psd_source *source);

uint64_t psd_source_count(const struct psd_source *source);

/* Reads record `index`, which is below the count; what `record` shows is valid until its next use.
 */
psd_status psd_source_read(const struct psd_source *source, uint64_t index,
                           struct psd_record *record);

extern const struct psd_source_kind psd_source_lmdb;

#endif
