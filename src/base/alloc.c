/* alloc.c - the heap behind one door; the countdown to a failure is shared by all threads. */
#include "base/alloc.h"
#include "base/status.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_long countdown = -1; /* allocations until the one that fails; negative: none will */
static atomic_bool has_failed;

static bool should_fail(void)
{
    if (atomic_load_explicit(&countdown, memory_order_relaxed) < 0)
        return false;
    if (atomic_fetch_sub(&countdown, 1) != 0)
        return false;
    atomic_store(&has_failed, true);
    return true;
}

static void *checked(void *memory, size_t size)
{
    if (!memory)
        psd_fail(PSD_ENOMEM, "out of memory: %zu bytes are not to be had", size);
    return memory;
}

void *psd_alloc(size_t size)
{
    return checked(should_fail() ? NULL : malloc(size ? size : 1), size);
}

void *psd_alloc_aligned(size_t alignment, size_t size)
{
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    bool refused = should_fail() || size > SIZE_MAX - alignment;

    return checked(refused ? NULL : aligned_alloc(alignment, size ? rounded : alignment), size);
}

/* Whole pages are taken away, so that the kernel gives fresh ones; it refuses where memory is locked.
 */
static bool renew(char *first, char *end)
{
    return first < end && madvise(first, (size_t)(end - first), MADV_DONTNEED) == 0;
}

static void clear(char *memory, size_t size)
{
    enum { LARGE = 128 << 10 }; /* bytes; below, writing zeros takes less than asking the kernel */
    size_t page = (size_t)sysconf(_SC_PAGESIZE), lead = (0 - (uintptr_t)memory) % page;
    char *end = memory + size, *last = end - (uintptr_t)end % page;

    if (size < LARGE || !renew(memory + lead, last)) {
        memset(memory, 0, size);
        return;
    }
    memset(memory, 0, lead);
    memset(last, 0, (size_t)(end - last));
}

void *psd_alloc_aligned_zero(size_t alignment, size_t size)
{
    void *memory = psd_alloc_aligned(alignment, size);

    if (memory)
        clear(memory, size);
    return memory;
}

void *psd_alloc_zero(size_t count, size_t size)
{
    bool refused = should_fail() || (size && count > SIZE_MAX / size);

    return checked(refused ? NULL : calloc(count ? count : 1, size ? size : 1), count * size);
}

void *psd_alloc_resize(void *old, size_t count, size_t size)
{
    bool refused = should_fail() || (size && count > SIZE_MAX / size);
    size_t bytes = count * size;

    return checked(refused ? NULL : realloc(old, bytes ? bytes : 1), bytes);
}

void *psd_alloc_grow(void *old, size_t count, size_t size)
{
    bool full = (count & (count - 1)) == 0; /* none, or a power of two */

    return full ? psd_alloc_resize(old, count ? 2 * count : 1, size) : old;
}

void *psd_alloc_copy(const void *from, size_t size)
{
    void *memory = psd_alloc(size);
    if (memory && size)
        memcpy(memory, from, size);
    return memory;
}

char *psd_alloc_text(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = psd_alloc((size_t)(length < 0 ? 0 : length) + 1);
    if (!text)
        return NULL;
    text[0] = 0;
    va_start(args, format);
    vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, args);
    va_end(args);
    return text;
}

void psd_alloc_free(void *memory)
{
    free(memory);
}

bool psd_alloc_fail_at(long n)
{
    atomic_store(&countdown, n);
    return atomic_exchange(&has_failed, false);
}
