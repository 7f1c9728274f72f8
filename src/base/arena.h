/* arena.h - memory that is given back all at once, and never grows beyond a budget.
 *
 *     small   [ block: a b c d ....free.... ] -> [ block ] -> ...     cut from blocks
 *     large   [ weights ] <-> [ weights ] <-> ...                     a piece of heap each
 *
 * A document read from a file lives in one: its many small parts are cut from a few blocks, its
 * arrays of weights are pieces of their own that can grow in place. The budget is what makes a
 * hostile file fail with a sentence instead of filling the machine. One thread at a time. */
#ifndef PSD_BASE_ARENA_H
#define PSD_BASE_ARENA_H

#include "base/status.h"

#include <stddef.h>

struct psd_arena;

/* An arena that hands out at most `budget` bytes; the caller owns *out until destroy. */
psd_status psd_arena_create(size_t budget, struct psd_arena **out);

/* Gives back all that was ever handed out; NULL is fine. */
void psd_arena_destroy(struct psd_arena *arena);

/* Bytes aligned for any type, not yet written. NULL: memory or budget ran out, with a sentence. */
void *psd_arena_alloc(struct psd_arena *arena, size_t size);

/* The same, all zero. */
void *psd_arena_zero(struct psd_arena *arena, size_t size);

/* A copy of `length` bytes with a NUL behind them. */
char *psd_arena_text(struct psd_arena *arena, const char *text, size_t length);

/* Makes an array of `old_size` bytes, which came from this function (or is NULL with 0), at least
 * `new_size` long, perhaps elsewhere. Growing element by element costs linear time in all. */
void *psd_arena_grow(struct psd_arena *arena, void *old, size_t old_size, size_t new_size);

/* Bytes handed out so far. */
size_t psd_arena_used(const struct psd_arena *arena);

#endif
