/* source.c - a source and its kind; and LMDB as one. */
#include "data/source.h"
#include "base/alloc.h"
#include "data/lmdb.h"
#include "data/sources.h"

#include <assert.h>
#include <string.h>

struct psd_source {
    const struct psd_source_kind *kind; /* static */
    void *state;                        /* owned through the kind */
    uint64_t count;
    char path[]; /* for sentences */
};

psd_status psd_source_open(const char *kind, const char *path, struct psd_source **out)
{
    const struct psd_source_kind *found = NULL;
    size_t length = strlen(path) + 1;

    PSD_TRY(psd_sources_find(kind, &found));
    struct psd_source *source = psd_alloc_zero(1, sizeof *source + length);
    if (!source)
        return PSD_ENOMEM;
    source->kind = found;
    memcpy(source->path, path, length);
    psd_status status = found->open(path, &source->state, &source->count);
    if (status == PSD_OK)
        *out = source;
    else
        psd_alloc_free(source);
    return status;
}

void psd_source_close(struct psd_source *source)
{
    if (!source)
        return;
    source->kind->close(source->state);
    psd_alloc_free(source);
}

const char *psd_source_path(const struct psd_source *source)
{
    return source->path;
}

uint64_t psd_source_count(const struct psd_source *source)
{
    return source->count;
}

psd_status psd_source_read(const struct psd_source *source, uint64_t index,
                           struct psd_record *record)
{
    assert(index < source->count);
    record->key = record->value = NULL;
    record->key_size = record->value_size = 0;
    return source->kind->read(source->state, index, record);
}

/* --- LMDB: each value is a serialized Datum ----------------------------------------------------
 */

static psd_status open_lmdb(const char *path, void **state, uint64_t *count)
{
    struct psd_lmdb *db = NULL;

    PSD_TRY(psd_lmdb_open(path, &db));
    *count = psd_lmdb_count(db);
    *state = db;
    return PSD_OK;
}

static psd_status read_lmdb(const void *state, uint64_t index, struct psd_record *record)
{
    PSD_TRY(psd_lmdb_record(state, index, record));
    return psd_datum_parse(record->value, record->value_size, &record->datum);
}

static void close_lmdb(void *state)
{
    psd_lmdb_close(state);
}

const struct psd_source_kind psd_source_lmdb = {
    .name = "lmdb",
    .open = open_lmdb,
    .read = read_lmdb,
    .close = close_lmdb,
};
