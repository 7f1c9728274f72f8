/* lmdb_page.c - layouts and their checks. All numbers are little-endian.
 *
 * Every page:
 *      0  8  its own number
 *      8  2  unused
 *     10  2  kind: branch 1, leaf 2, overflow 4, meta 8, and others that Caffe never makes
 *     12  2  where the list of entries ends       (overflow: 12  4  how many pages follow each
 *     14  2  where the lowest entry begins                          other, this one included)
 *     16     the list: 2 bytes an entry, its offset in the page, in order of the keys;
 *            then free space; then the entries themselves up to the page's end */
#include "data/lmdb_page.h"

enum { META = 8, EVERY_KIND = 0x6f }; /* the bits that say what a page is */

/* An entry:
 *      0  4  leaf: length of the value              (branch: 0  6  page below)
 *      4  2  leaf: 1 the value is in overflow pages, 2 a sub-database, 4 several values of a key
 *      6  2  length of the key
 *      8     the key; in a leaf, the value or the 8-byte number of its first overflow page; even
 *            length in all */
enum { NODE = 8, BIG = 1, SUB_DATABASE = 2, DUPLICATES = 4 };

/* A database, as meta pages describe it:
 *      0  4  length of a page (in the first description, that of the list of free pages)
 *      4  2  flags: 4 several values of a key, and others about the order of keys
 *      6  2  levels of the tree
 *      8 24  numbers of branch, leaf and overflow pages
 *     32  8  records
 *     40  8  page of the root
 *
 * A meta page, behind the header:
 *     16  4  0xbeefc0de          20  4  version
 *     24 16  address and length of the writer's map
 *     40 48  description of the free list
 *     88 48  description of the main database
 *    136  8  last page in use   144  8  number of the commit */
enum { MAGIC = 16, VERSION = 20, FREE = 40, MAIN = 88, LAST = 136, COMMIT = 144 };
enum { FLAGS = 4, DEPTH = 6, ENTRIES = 32, ROOT = 40 };

static uint64_t little(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;

    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

static bool is_page_size(uint64_t size)
{
    return size >= PSD_LMDB_PAGE_LEAST && size <= PSD_LMDB_PAGE_MOST && (size & (size - 1)) == 0;
}

const char *psd_lmdb_page_meta(const uint8_t *bytes, struct psd_lmdb_meta *out)
{
    const uint8_t *main = bytes + MAIN;
    struct psd_lmdb_meta meta = {
        .page_size = little(bytes + FREE, 4),
        .depth = (unsigned)little(main + DEPTH, 2),
        .entries = little(main + ENTRIES, 8),
        .root = little(main + ROOT, 8),
        .last_page = little(bytes + LAST, 8),
        .commit = little(bytes + COMMIT, 8),
    };

    if (little(bytes + 10, 2) != META || little(bytes + MAGIC, 4) != 0xbeefc0de)
        return "is not the start of an LMDB database";
    if (little(bytes + VERSION, 4) != 1)
        return "is of a version of LMDB that we cannot read";
    if (!is_page_size(meta.page_size))
        return "names a page size that LMDB does not have";
    if (little(main + FLAGS, 2) & DUPLICATES)
        return "says that keys have several values, which Caffe's databases have not";
    if (meta.depth > PSD_LMDB_DEEPEST)
        return "says that the tree is deeper than LMDB can go";
    if ((meta.depth == 0) != (meta.root == PSD_LMDB_NO_PAGE))
        return "contradicts itself about the tree being empty";
    if (meta.root != PSD_LMDB_NO_PAGE && meta.root > meta.last_page)
        return "puts the root behind the last page";
    *out = meta;
    return NULL;
}

const char *psd_lmdb_page_node(const uint8_t *bytes, size_t size, enum psd_lmdb_kind kind,
                               struct psd_lmdb_node *out)
{
    struct psd_lmdb_node node = {0};

    if (size < NODE)
        return "has an entry that reaches over its end";
    node.key = bytes + NODE;
    node.key_size = little(bytes + 6, 2);
    node.size = NODE + node.key_size;
    if (kind == PSD_LMDB_BRANCH) {
        node.child = little(bytes, 6);
    } else {
        uint64_t flags = little(bytes + 4, 2);
        if (flags & (SUB_DATABASE | DUPLICATES))
            return "has a database inside the database, which Caffe's have not";
        node.value_size = little(bytes, 4);
        node.size += flags & BIG ? 8 : node.value_size;
        if (!(flags & BIG))
            node.value = node.key + node.key_size;
    }
    if (node.size > size)
        return "has an entry that reaches over its end";
    if (kind == PSD_LMDB_LEAF && !node.value)
        node.overflow = little(node.key + node.key_size, 8);
    *out = node;
    return NULL;
}

size_t psd_lmdb_page_entry(const uint8_t *page, size_t index)
{
    return little(page + PSD_LMDB_HEADER + 2 * index, 2);
}

static const char *check_entries(const uint8_t *page, size_t size, enum psd_lmdb_kind kind,
                                 size_t count, size_t upper)
{
    struct psd_lmdb_node node;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t at = psd_lmdb_page_entry(page, i);
        if (at < upper || at >= size)
            return "has an entry outside of the space for entries";
        const char *reason = psd_lmdb_page_node(page + at, size - at, kind, &node);
        if (reason)
            return reason;
        used += node.size;
    }
    return used > size - upper ? "has entries that lie over each other" : NULL;
}

const char *psd_lmdb_page_check(const uint8_t *page, size_t size, uint64_t number,
                                enum psd_lmdb_kind kind, size_t *count)
{
    size_t lower = little(page + 12, 2), upper = little(page + 14, 2);

    if (little(page, 8) != number)
        return "carries the number of another page";
    if ((little(page + 10, 2) & EVERY_KIND) != kind)
        return kind == PSD_LMDB_LEAF ? "should be a leaf and is none"
                                     : "should be a branch and is none";
    if (lower < PSD_LMDB_HEADER || lower % 2 != 0 || lower > upper || upper > size)
        return "has a damaged list of entries";
    *count = (lower - PSD_LMDB_HEADER) / 2;
    return check_entries(page, size, kind, *count, upper);
}

uint64_t psd_lmdb_page_span(size_t page_size, size_t size)
{
    return (PSD_LMDB_HEADER + (uint64_t)size + page_size - 1) / page_size;
}

const char *psd_lmdb_page_overflow(const uint8_t *header, uint64_t number, uint64_t span)
{
    if (little(header, 8) != number)
        return "carries the number of another page";
    if ((little(header + 10, 2) & EVERY_KIND) != PSD_LMDB_OVERFLOW)
        return "should hold a large value and does not";
    if (little(header + 12, 4) < span)
        return "has fewer pages behind it than its value needs";
    return NULL;
}
