/* arena.c - blocks for the small, pieces of heap for the large. */
#include "base/arena.h"
#include "base/alloc.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 64 << 10, LARGE = 32 << 10, HUGE_PAGE = 2 << 20, ALIGN = alignof(max_align_t) };

/* What stands in front of every block and every large piece. */
struct piece {
    alignas(max_align_t) struct piece *next; /* owned */
    struct piece **link;                     /* the pointer to us; borrowed */
    size_t size;                             /* bytes behind this header */
};

struct psd_arena {
    struct piece *pieces; /* owned */
    char *free;           /* the rest of the newest block */
    size_t left;          /* bytes of it */
    size_t used, budget;
};

psd_status psd_arena_create(size_t budget, struct psd_arena **out)
{
    struct psd_arena *arena = psd_alloc_zero(1, sizeof *arena);
    if (!arena)
        return PSD_ENOMEM;
    arena->budget = budget;
    *out = arena;
    return PSD_OK;
}

void psd_arena_destroy(struct psd_arena *arena)
{
    if (!arena)
        return;
    for (struct piece *piece = arena->pieces, *next; piece; piece = next) {
        next = piece->next;
        psd_alloc_free(piece);
    }
    psd_alloc_free(arena);
}

static int within_budget(struct psd_arena *arena, size_t size)
{
    if (size <= arena->budget - arena->used)
        return 1;
    psd_fail(PSD_ENOMEM, "more than the %zu MiB of memory that something of this size may take",
             arena->budget >> 20);
    return 0;
}

static void link_piece(struct psd_arena *arena, struct piece *piece, size_t size)
{
    piece->size = size;
    piece->next = arena->pieces;
    piece->link = &arena->pieces;
    if (piece->next)
        piece->next->link = &piece->next;
    arena->pieces = piece;
}

static struct piece *new_piece(struct psd_arena *arena, size_t size)
{
    struct piece *piece = size > SIZE_MAX - sizeof *piece ? NULL : psd_alloc(sizeof *piece + size);
    if (piece)
        link_piece(arena, piece, size);
    return piece;
}

/* Asks for large pages where they fit: fresh memory then costs a fraction of the page faults. */
static void prefer_huge_pages(void *memory, size_t size)
{
    uintptr_t first = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = ((uintptr_t)memory + size) / HUGE_PAGE * HUGE_PAGE;

    if (first < end)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
}

static void *alloc_large(struct psd_arena *arena, size_t size)
{
    struct piece *piece = new_piece(arena, size);
    if (!piece)
        return NULL;
    prefer_huge_pages(piece, sizeof *piece + size);
    arena->used += size;
    return piece + 1;
}

void *psd_arena_alloc(struct psd_arena *arena, size_t size)
{
    if (!within_budget(arena, size))
        return NULL;
    if (size >= LARGE)
        return alloc_large(arena, size);

    size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (rounded > arena->left) {
        struct piece *block = new_piece(arena, BLOCK);
        if (!block)
            return NULL;
        arena->free = (char *)(block + 1);
        arena->left = BLOCK;
    }
    void *memory = arena->free;
    arena->free += rounded;
    arena->left -= rounded;
    arena->used += size;
    return memory;
}

void *psd_arena_zero(struct psd_arena *arena, size_t size)
{
    void *memory = psd_arena_alloc(arena, size);
    return memory ? memset(memory, 0, size) : NULL;
}

char *psd_arena_text(struct psd_arena *arena, const char *text, size_t length)
{
    char *copy = psd_arena_alloc(arena, length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

/* Small arrays have room for a power of two bytes, so their capacity follows from their size. */
static size_t small_capacity(size_t size)
{
    size_t capacity = ALIGN;

    while (capacity < size)
        capacity *= 2;
    return capacity;
}

static void *grow_large(struct psd_arena *arena, void *old, size_t new_size)
{
    struct piece *piece = (struct piece *)old - 1;
    size_t size = piece->size + piece->size / 2;

    if (new_size <= piece->size)
        return old;
    if (size < new_size)
        size = new_size;
    if (!within_budget(arena, size - piece->size))
        return NULL;
    size_t old_size = piece->size;
    struct piece **link = piece->link;
    piece = psd_alloc_resize(piece, 1, sizeof *piece + size);
    if (!piece)
        return NULL;
    *link = piece;
    if (piece->next)
        piece->next->link = &piece->next;
    piece->size = size;
    arena->used += size - old_size;
    return piece + 1;
}

void *psd_arena_grow(struct psd_arena *arena, void *old, size_t old_size, size_t new_size)
{
    size_t old_capacity = old ? small_capacity(old_size) : 0;

    if (old && old_capacity >= LARGE)
        return grow_large(arena, old, new_size);
    if (new_size <= old_capacity)
        return old;
    size_t capacity = new_size < LARGE ? small_capacity(new_size) : new_size;
    void *grown = psd_arena_alloc(arena, capacity);
    if (grown && old)
        memcpy(grown, old, old_size);
    return grown;
}

size_t psd_arena_used(const struct psd_arena *arena)
{
    return arena->used;
}
