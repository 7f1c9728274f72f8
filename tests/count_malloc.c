/* count_malloc.c - counts the allocations of a whole process; tests/train_test.c preloads it.
 *
 *     LD_PRELOAD=./count_malloc.so ALLOCATIONS=count.txt poseidon train ...
 *
 * When the process ends, the number of calls of malloc, calloc, realloc and aligned_alloc is written
 * to the file that ALLOCATIONS names. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* What glibc offers to whoever puts himself before it. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;

void *malloc(size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = aligned_alloc(alignment, size);
    return *out ? 0 : 12; /* ENOMEM */
}

__attribute__((destructor)) static void report(void)
{
    long before = atomic_load(&calls);
    const char *path = getenv("ALLOCATIONS");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (file) {
        fprintf(file, "%ld\n", before);
        fclose(file);
    }
}
