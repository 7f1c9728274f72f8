/* hdf5_group.c - names by symbol tables and by link messages.
 *
 *     heap           "HEAP"  version 4  size 8  free 16  address of the letters 24
 *     node           "SNOD"  version 4  count 6 (2)  entries 8 of 40 bytes
 *     entry          where its name is in the heap 0  object header 8  kind 16 (4)  ...
 *     link message   version 0  flags 1  [kind]  [order 8]  [letters]  length (1, 2, 4 or 8)  name  address */
#include "data/hdf5_group.h"
#include "base/alloc.h"
#include "base/little.h"
#include "data/hdf5_btree.h"
#include "data/hdf5_header.h"

#include <string.h>

enum { ENTRY = 40, SOFT_ENTRY = 2 };

struct reading {
    const struct psd_hdf5_file *file;
    psd_hdf5_name_function *take;
    void *context;
    bool is_group;
    unsigned char *letters; /* owned while the tree is walked */
    size_t n_letters;
};

static psd_status give(struct reading *reading, uint64_t from, const char *name, size_t length,
                       uint64_t at)
{
    if (!length || length > PSD_HDF5_NAME || memchr(name, 0, length))
        return psd_hdf5_file_damaged(reading->file, from,
                                     "a name is empty or longer than 1024 bytes");
    return reading->take(reading->context, name, length, at);
}

/* --- symbol tables ------------------------------------------------------------------------------ */

static psd_status take_entry(struct reading *reading, uint64_t from, const unsigned char *entry)
{
    uint64_t offset = psd_little_get(entry, 8);
    bool soft = psd_little_get(entry + 16, 4) == SOFT_ENTRY;

    if (offset >= reading->n_letters)
        return psd_hdf5_file_damaged(reading->file, from, "a name is not where it should be");
    const char *name = (const char *)reading->letters + offset;
    return give(reading, from, name, strnlen(name, reading->n_letters - (size_t)offset),
                soft ? PSD_HDF5_NOWHERE : psd_little_get(entry + 8, 8));
}

static psd_status take_node(void *context, const unsigned char *key, uint64_t at)
{
    struct reading *reading = context;
    unsigned char head[8], *entries = NULL;

    (void)key; /* names are found one by one */
    PSD_TRY(psd_hdf5_file_read(reading->file, at, head, sizeof head));
    if (memcmp(head, "SNOD", 4) != 0)
        return psd_hdf5_file_damaged(reading->file, at, "here should be names of a group");
    size_t count = (size_t)psd_little_get(head + 6, 2);
    PSD_TRY(psd_hdf5_file_load(reading->file, at + 8, count * ENTRY, &entries));
    psd_status status = PSD_OK;
    for (size_t i = 0; status == PSD_OK && i < count; i++)
        status = take_entry(reading, at + 8 + i * ENTRY, entries + i * ENTRY);
    psd_alloc_free(entries);
    return status;
}

static psd_status load_letters(struct reading *reading, uint64_t heap)
{
    unsigned char head[32];

    PSD_TRY(psd_hdf5_file_read(reading->file, heap, head, sizeof head));
    if (memcmp(head, "HEAP", 4) != 0)
        return psd_hdf5_file_damaged(reading->file, heap, "here should be a heap of names");
    reading->n_letters = (size_t)psd_little_get(head + 8, 8);
    return psd_hdf5_file_load(reading->file, psd_little_get(head + 24, 8), reading->n_letters,
                              &reading->letters);
}

static psd_status read_symbols(struct reading *reading, const struct psd_hdf5_message *message)
{
    if (message->size < 16 || reading->letters)
        return psd_hdf5_file_damaged(reading->file, message->at, "a group's table makes no sense");
    PSD_TRY(load_letters(reading, psd_little_get(message->bytes + 8, 8)));
    psd_status status = psd_hdf5_btree_walk(reading->file, psd_little_get(message->bytes, 8),
                                            PSD_HDF5_BTREE_NAMES, 8, take_node, reading);
    psd_alloc_free(reading->letters);
    reading->letters = NULL;
    return status;
}

/* --- link messages ------------------------------------------------------------------------------ */

static psd_status read_link(struct reading *reading, const struct psd_hdf5_message *message)
{
    const unsigned char *bytes = message->bytes;
    unsigned flags = message->size > 1 ? bytes[1] : 0;
    size_t kind_at = 2, width = (size_t)1 << (flags & 3);
    size_t at = kind_at + (flags & 8 ? 1 : 0) + (flags & 4 ? 8 : 0) +
                (flags & 16 ? 1 : 0); /* of the length */

    if (message->size < at + width)
        return psd_hdf5_file_damaged(reading->file, message->at, "a link is too short");
    unsigned kind = flags & 8 ? bytes[kind_at] : 0;
    uint64_t length = psd_little_get(bytes + at, width);
    size_t left = message->size - at - width, address = kind == 0 ? 8 : 0;
    if (left < address || length > left - address)
        return psd_hdf5_file_damaged(reading->file, message->at, "a link is too short");
    const char *name = (const char *)bytes + at + width;
    return give(reading, message->at, name, (size_t)length,
                kind ? PSD_HDF5_NOWHERE : psd_little_get(bytes + at + width + (size_t)length, 8));
}

/* Says where many links are; we read those in the header. */
static psd_status check_links(const struct reading *reading, const struct psd_hdf5_message *message)
{
    size_t at = message->size > 1 && message->bytes[1] & 1 ? 10 : 2;

    if (message->size < at + 8)
        return psd_hdf5_file_damaged(reading->file, message->at, "a group's message is too short");
    if (psd_little_get(message->bytes + at, 8) == PSD_HDF5_NOWHERE)
        return PSD_OK;
    return psd_hdf5_file_unknown(
        reading->file, message->at,
        "a group of many names in HDF5's newest form is not read; write the "
        "file with libver='earliest'");
}

static psd_status take_message(void *context, const struct psd_hdf5_message *message)
{
    struct reading *reading = context;

    switch (message->type) {
    case PSD_HDF5_SYMBOLS:
        reading->is_group = true;
        return reading->take ? read_symbols(reading, message) : PSD_OK;
    case PSD_HDF5_LINKS:
        reading->is_group = true;
        return reading->take ? check_links(reading, message) : PSD_OK;
    case PSD_HDF5_LINK:
        reading->is_group = true;
        return reading->take ? read_link(reading, message) : PSD_OK;
    default:
        return PSD_OK;
    }
}

psd_status psd_hdf5_group_read(const struct psd_hdf5_file *file, uint64_t group,
                               psd_hdf5_name_function *take, void *context)
{
    struct reading reading = {.file = file, .take = take, .context = context};

    PSD_TRY(psd_hdf5_header_read(file, group, take_message, &reading));
    return reading.is_group ? PSD_OK : psd_hdf5_file_damaged(file, group, "here should be a group");
}

psd_status psd_hdf5_group_is(const struct psd_hdf5_file *file, uint64_t at, bool *out)
{
    struct reading reading = {.file = file};

    PSD_TRY(psd_hdf5_header_read(file, at, take_message, &reading));
    *out = reading.is_group;
    return PSD_OK;
}

/* --- finding ------------------------------------------------------------------------------------ */

struct search {
    const struct psd_hdf5_file *file;
    const char *name;
    size_t length;
    bool found;
    uint64_t at;
};

static psd_status compare(void *context, const char *name, size_t length, uint64_t at)
{
    struct search *search = context;

    if (length != search->length || memcmp(name, search->name, length) != 0)
        return PSD_OK;
    search->found = true;
    search->at = at;
    if (at == PSD_HDF5_NOWHERE)
        return psd_fail(PSD_ENOSUP, "%s: %.*s is a link to another name, which is not followed",
                        search->file->path, (int)length, name);
    return PSD_OK;
}

psd_status psd_hdf5_group_find(const struct psd_hdf5_file *file, uint64_t group, const char *path,
                               uint64_t *out)
{
    while (*(path += strspn(path, "/"))) {
        struct search search = {file, path, strcspn(path, "/"), false, PSD_HDF5_NOWHERE};
        bool is_group = false;
        PSD_TRY(psd_hdf5_group_is(file, group, &is_group));
        if (is_group)
            PSD_TRY(psd_hdf5_group_read(file, group, compare, &search));
        if (!search.found) {
            *out = PSD_HDF5_NOWHERE;
            return PSD_OK;
        }
        group = search.at;
        path += search.length;
    }
    *out = group;
    return PSD_OK;
}
