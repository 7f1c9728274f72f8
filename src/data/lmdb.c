/* lmdb.c - finds all records by one walk through the tree, then reads them from their places. */
#include "data/lmdb.h"
#include "base/alloc.h"
#include "data/lmdb_file.h"

#include <inttypes.h>

struct psd_lmdb {
    struct psd_lmdb_file file; /* owned */
    uint64_t *places;          /* owned; the byte of the file where each record's entry begins */
    uint64_t count, room;
    size_t largest; /* value in overflow pages */
};

/* --- finding the records ---------------------------------------------------------------------- */

/* One walk, from the first leaf to the last. */
struct walk {
    struct psd_lmdb *db; /* borrowed */
    uint8_t *pages;      /* owned; a page for each level of the tree */
    uint64_t *seen;      /* owned; a bit for each page of the file */
};

/* Notes that `count` pages from `first` on have a place in the tree, and no other. */
static const char *visit(struct walk *walk, uint64_t first, uint64_t count)
{
    uint64_t pages = walk->db->file.meta.last_page + 1;

    if (first < 2 || first >= pages || count > pages - first)
        return "refers to pages that are not in the file";
    for (uint64_t page = first; page < first + count; page++) {
        uint64_t bit = UINT64_C(1) << page % 64;
        if (walk->seen[page / 64] & bit)
            return "refers to a page that has its place elsewhere in the tree";
        walk->seen[page / 64] |= bit;
    }
    return NULL;
}

static psd_status add_place(struct psd_lmdb *db, uint64_t place)
{
    if (db->count == db->room) {
        uint64_t room = db->room ? 2 * db->room : 256;
        uint64_t *places = psd_alloc_resize(db->places, room, sizeof *places);
        if (!places)
            return PSD_ENOMEM;
        db->places = places;
        db->room = room;
    }
    db->places[db->count++] = place;
    return PSD_OK;
}

static const char *check_value(struct walk *walk, const struct psd_lmdb_node *node)
{
    if (node->value_size > PSD_RECORD_LARGEST)
        return "has a record of more than 256 MiB";
    if (node->value)
        return NULL;
    if (node->value_size > walk->db->largest)
        walk->db->largest = node->value_size;
    return visit(walk, node->overflow,
                 psd_lmdb_page_span(walk->db->file.meta.page_size, node->value_size));
}

static psd_status walk_leaf(struct walk *walk, const uint8_t *page, uint64_t number, size_t count)
{
    size_t size = walk->db->file.meta.page_size;
    struct psd_lmdb_node node;

    for (size_t i = 0; i < count; i++) {
        size_t at = psd_lmdb_page_entry(page, i);
        const char *reason = psd_lmdb_page_node(page + at, size - at, PSD_LMDB_LEAF, &node);
        if (!reason)
            reason = check_value(walk, &node);
        if (reason)
            return psd_lmdb_file_damaged(&walk->db->file, number, reason);
        PSD_TRY(add_place(walk->db, number * size + at));
    }
    return PSD_OK;
}

static psd_status walk_page(struct walk *walk, uint64_t number, unsigned level);

static psd_status walk_branch(struct walk *walk, const uint8_t *page, uint64_t number, size_t count,
                              unsigned level)
{
    size_t size = walk->db->file.meta.page_size;
    struct psd_lmdb_node node;

    for (size_t i = 0; i < count; i++) {
        size_t at = psd_lmdb_page_entry(page, i);
        const char *reason = psd_lmdb_page_node(page + at, size - at, PSD_LMDB_BRANCH, &node);
        if (!reason)
            reason = visit(walk, node.child, 1);
        if (reason)
            return psd_lmdb_file_damaged(&walk->db->file, number, reason);
        PSD_TRY(walk_page(walk, node.child, level + 1));
    }
    return PSD_OK;
}

/* Walks the part of the tree below page `number`, which is in the file. */
static psd_status walk_page(struct walk *walk, uint64_t number, unsigned level)
{
    const struct psd_lmdb_file *file = &walk->db->file;
    size_t size = file->meta.page_size, count = 0;
    uint8_t *page = walk->pages + level * size;
    bool is_leaf = level + 1 == file->meta.depth;

    PSD_TRY(psd_lmdb_file_read(file, number * size, page, size));
    const char *reason =
        psd_lmdb_page_check(page, size, number, is_leaf ? PSD_LMDB_LEAF : PSD_LMDB_BRANCH, &count);
    if (reason)
        return psd_lmdb_file_damaged(file, number, reason);
    return is_leaf ? walk_leaf(walk, page, number, count)
                   : walk_branch(walk, page, number, count, level);
}

static psd_status walk_tree(struct walk *walk)
{
    const struct psd_lmdb_meta *meta = &walk->db->file.meta;

    walk->pages = psd_alloc(meta->depth * meta->page_size);
    walk->seen = psd_alloc_zero(meta->last_page / 64 + 1, sizeof *walk->seen);
    if (!walk->pages || !walk->seen)
        return PSD_ENOMEM;
    const char *reason = visit(walk, meta->root, 1);
    if (reason)
        return psd_lmdb_file_damaged(&walk->db->file, 0, reason);
    return walk_page(walk, meta->root, 0);
}

/* Gives back what the list has grown beyond its end. */
static psd_status trim_places(struct psd_lmdb *db)
{
    if (db->count == 0)
        return PSD_OK;
    uint64_t *places = psd_alloc_resize(db->places, db->count, sizeof *places);
    if (!places)
        return PSD_ENOMEM;
    db->places = places;
    db->room = db->count;
    return PSD_OK;
}

static psd_status find_records(struct psd_lmdb *db)
{
    const struct psd_lmdb_meta *meta = &db->file.meta;
    struct walk walk = {.db = db};

    psd_status status = meta->depth > 0 ? walk_tree(&walk) : PSD_OK;
    psd_alloc_free(walk.seen);
    psd_alloc_free(walk.pages);
    if (status == PSD_OK && db->count != meta->entries)
        status =
            psd_fail(PSD_ECONFIG, "%s: its tree has %" PRIu64 " records and should have %" PRIu64,
                     db->file.path, db->count, meta->entries);
    return status == PSD_OK ? trim_places(db) : status;
}

psd_status psd_lmdb_open(const char *path, struct psd_lmdb **out)
{
    struct psd_lmdb *db = psd_alloc_zero(1, sizeof *db);

    if (!db)
        return PSD_ENOMEM;
    psd_status status = psd_lmdb_file_open(path, &db->file);
    if (status != PSD_OK) {
        psd_alloc_free(db);
        return status;
    }
    status = find_records(db);
    if (status == PSD_OK)
        *out = db;
    else
        psd_lmdb_close(db);
    return status;
}

void psd_lmdb_close(struct psd_lmdb *db)
{
    if (!db)
        return;
    psd_lmdb_file_close(&db->file);
    psd_alloc_free(db->places);
    psd_alloc_free(db);
}

/* --- reading ---------------------------------------------------------------------------------- */

uint64_t psd_lmdb_count(const struct psd_lmdb *db)
{
    return db->count;
}

/* Reads a value from its overflow pages to `behind` in the room, where the key ends. */
static psd_status read_overflow(const struct psd_lmdb_file *file, const struct psd_lmdb_node *node,
                                size_t behind, struct psd_record *record)
{
    uint64_t span = psd_lmdb_page_span(file->meta.page_size, node->value_size);
    size_t size = PSD_LMDB_HEADER + node->value_size;

    if (behind + size > record->room_size || node->overflow > file->meta.last_page ||
        span > file->meta.last_page + 1 - node->overflow)
        return psd_fail(PSD_ECONFIG, "%s was changed since it was opened", file->path);
    PSD_TRY(psd_lmdb_file_read(file, node->overflow * file->meta.page_size, record->room + behind,
                               size));
    const char *reason = psd_lmdb_page_overflow(record->room + behind, node->overflow, span);
    return reason ? psd_lmdb_file_damaged(file, node->overflow, reason) : PSD_OK;
}

psd_status psd_lmdb_record(const struct psd_lmdb *db, uint64_t index, struct psd_record *record)
{
    uint64_t place = db->places[index];
    size_t page_size = db->file.meta.page_size, size = page_size - place % page_size;
    struct psd_lmdb_node node;

    record->key = record->value = NULL;
    record->key_size = record->value_size = 0;
    PSD_TRY(psd_record_reserve(record, page_size + PSD_LMDB_HEADER + db->largest)); /* once */
    PSD_TRY(psd_lmdb_file_read(&db->file, place, record->room, size));
    const char *reason = psd_lmdb_page_node(record->room, size, PSD_LMDB_LEAF, &node);
    if (reason)
        return psd_lmdb_file_damaged(&db->file, place / page_size, reason);

    record->key = node.key;
    record->key_size = node.key_size;
    if (!node.value) {
        size_t behind = (size_t)(node.key - record->room) + node.key_size;
        PSD_TRY(read_overflow(&db->file, &node, behind, record));
        node.value = record->room + behind + PSD_LMDB_HEADER;
    }
    record->value = node.value;
    record->value_size = node.value_size;
    return PSD_OK;
}
