/* lmdb_page.h - the pages of an LMDB file, byte by byte.
 *
 *     file    | meta 0 | meta 1 | page 2 | page 3 | ...          all pages of one size
 *
 *     tree                [ branch ]                             the main database, in key order
 *                        /    |     \
 *                  [leaf]  [leaf]  [leaf]
 *                     |
 *                     '--> [ overflow | overflow | ... ]         a value too large for its leaf
 *
 * This is the format of LMDB 0.9 on 64-bit little-endian machines; the layouts stand in
 * lmdb_page.c where they are read. Nothing is trusted: a function that finds something wrong
 * returns the reason, the end of a sentence that begins with the page; NULL means that all is well.
 * No memory, no files, any thread. */
#ifndef PSD_DATA_LMDB_PAGE_H
#define PSD_DATA_LMDB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PSD_LMDB_HEADER = 16,       /* bytes in front of every page */
    PSD_LMDB_META = 152,        /* bytes of a meta page that say something */
    PSD_LMDB_DEEPEST = 32,      /* levels of a tree */
    PSD_LMDB_PAGE_LEAST = 512,  /* bytes of a page */
    PSD_LMDB_PAGE_MOST = 32768, /* offsets in a page have 16 bits */
};

/* The root of an empty tree. */
#define PSD_LMDB_NO_PAGE UINT64_MAX

enum psd_lmdb_kind { PSD_LMDB_BRANCH = 1, PSD_LMDB_LEAF = 2, PSD_LMDB_OVERFLOW = 4 };

/* What a meta page says of the main database. */
struct psd_lmdb_meta {
    size_t page_size;
    unsigned depth;     /* levels of the tree; 0 when it is empty */
    uint64_t entries;   /* records */
    uint64_t root;      /* page; PSD_LMDB_NO_PAGE when the tree is empty */
    uint64_t last_page; /* in use */
    uint64_t commit;    /* the later of the two meta pages is in force */
};

/* An entry of a branch or a leaf. */
struct psd_lmdb_node {
    const uint8_t *key; /* borrowed from the page */
    size_t key_size;
    uint64_t child;       /* branch only: the page below */
    const uint8_t *value; /* leaf only: in the page, or NULL when it is in overflow pages */
    size_t value_size;    /* leaf only */
    uint64_t overflow;    /* leaf only: the first of these pages */
    size_t size;          /* bytes that the entry takes in its page */
};

/* Reads the first PSD_LMDB_META bytes of a meta page. */
const char *psd_lmdb_page_meta(const uint8_t *bytes, struct psd_lmdb_meta *out);

/* Checks page `number`, of `size` bytes, to be of that kind and all entries to lie inside it, none
 * over another. *count is the number of entries. */
const char *psd_lmdb_page_check(const uint8_t *page, size_t size, uint64_t number,
                                enum psd_lmdb_kind kind, size_t *count);

/* Where in a checked page the entry begins. */
size_t psd_lmdb_page_entry(const uint8_t *page, size_t index);

/* Reads an entry of which `size` bytes can be seen, from its start to the end of the page. */
const char *psd_lmdb_page_node(const uint8_t *bytes, size_t size, enum psd_lmdb_kind kind,
                               struct psd_lmdb_node *out);

/* Pages that a value of `size` bytes takes when it has overflow pages. */
uint64_t psd_lmdb_page_span(size_t page_size, size_t size);

/* Checks the header of the first overflow page of a value that takes `span` of them. */
const char *psd_lmdb_page_overflow(const uint8_t *header, uint64_t number, uint64_t span);

#endif
