/* alloc.h - memory from the heap, and a way to see what happens when there is none.
 *
 *     psd_alloc_fail_at(n);       the n-th allocation from now fails, counted from 0
 *     status = psd_shard_create(...);
 *     failed = psd_alloc_fail_at(-1);
 *
 * Everything in the tree allocates here, so a test can make each allocation fail in turn. A failed
 * call has already put its sentence into psd_error(); the caller returns PSD_ENOMEM. */
#ifndef PSD_BASE_ALLOC_H
#define PSD_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that are not yet written; at least one, so that NULL always means failure. */
void *psd_alloc(size_t size);

/* The same at an address that is a multiple of `alignment`, a power of two. */
void *psd_alloc_aligned(size_t alignment, size_t size);

/* The same, all zero. Large memory is cleared by the kernel, page by page as it is touched: pages that
 * nobody touches cost nothing, and threads that share out work share that one, too. */
void *psd_alloc_aligned_zero(size_t alignment, size_t size);

/* An array of zero bytes; NULL also when count * size does not fit into a size_t. */
void *psd_alloc_zero(size_t count, size_t size);

/* Makes `old` (NULL is fine) count * size bytes long, perhaps elsewhere; on failure `old` is as it
 * was. */
void *psd_alloc_resize(void *old, size_t count, size_t size);

/* Room for one more behind `count` elements of `size` bytes, in an array that was made by this function
 * alone (NULL is fine). It doubles, so that adding one by one costs linear time in all. */
void *psd_alloc_grow(void *old, size_t count, size_t size);

/* A copy of `size` bytes. */
void *psd_alloc_copy(const void *from, size_t size);

/* A string made as by printf. */
__attribute__((format(printf, 1, 2))) char *psd_alloc_text(const char *format, ...);

/* Gives memory back; NULL is fine. */
void psd_alloc_free(void *memory);

/* For tests: lets the n-th allocation from now fail, of the whole process; -1 stops that. Says
 * whether an allocation has failed in this way since the call before. */
bool psd_alloc_fail_at(long n);

#endif
