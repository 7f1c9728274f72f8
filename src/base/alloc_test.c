/* alloc_test.c - memory comes, or fails when told to. */
#include "base/alloc.h"
#include "base/status.h"
#include "test.h"

#include <stdint.h>
#include <sys/mman.h>

static void nothing_is_still_something(void)
{
    void *memory = psd_alloc(0);

    CHECK(memory);
    psd_alloc_free(memory);
    psd_alloc_free(NULL);
}

static void zeroed_memory_is_zero(void)
{
    unsigned char *bytes = psd_alloc_zero(100, 3);

    CHECK(bytes);
    for (int i = 0; i < 300; i++)
        CHECK(bytes[i] == 0);
    psd_alloc_free(bytes);
}

static void aligned_memory_is_aligned_and_whole(void)
{
    static const size_t alignments[] = {16, 64, 4096, 2 << 20};
    static const size_t sizes[] = {0, 1, 64, 100, 5000};

    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            unsigned char *bytes = psd_alloc_aligned(alignments[i], sizes[j]);
            CHECK(bytes && (uintptr_t)bytes % alignments[i] == 0);
            memset(bytes, 1, sizes[j]);
            psd_alloc_free(bytes);
        }
    }
}

/* A little after the pieces keeps the heap from giving them back to the kernel as a whole. */
static void check_used_memory_is_zero_again(size_t alignment, size_t size)
{
    void *after[3] = {0};

    for (int round = 0; round < 3; round++) {
        unsigned char *bytes = psd_alloc_aligned_zero(alignment, size);
        after[round] = psd_alloc(100);
        CHECK(bytes && (uintptr_t)bytes % alignment == 0);
        for (size_t i = 0; i < size; i++)
            CHECK(bytes[i] == 0);
        memset(bytes, 1, size);
        psd_alloc_free(bytes);
    }
    for (int round = 0; round < 3; round++)
        psd_alloc_free(after[round]);
}

static void check_aligned_zeros(void)
{
    static const size_t alignments[] = {16, 64, 4096, 2 << 20};
    static const size_t sizes[] = {0, 1, 5000, 100000, 128 << 10, (128 << 10) + 1, 700001};

    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            check_used_memory_is_zero_again(alignments[i], sizes[j]);
    }
}

/* At first the heap asks the kernel for each large piece; a larger one that is given back makes it keep
 * what it has, so that pieces are used again. */
static void aligned_zeroed_memory_is_zero_also_where_it_was_used_before(void)
{
    check_aligned_zeros();
    psd_alloc_free(psd_alloc(16 << 20));
    check_aligned_zeros();
}

/* Locked pages are not taken away. Where locking is not allowed, this is the test above. */
static void aligned_zeroed_memory_is_zero_also_where_it_is_locked(void)
{
    psd_alloc_free(psd_alloc(16 << 20));
    check_aligned_zeros(); /* there is a heap now */
    mlockall(MCL_CURRENT);
    check_aligned_zeros();
    munlockall();
}

static void sizes_that_overflow_are_refused(void)
{
    char *kept = psd_alloc_copy("kept", 5);

    CHECK(!psd_alloc_zero(SIZE_MAX / 2, 3));
    CHECK(!psd_alloc_aligned(64, SIZE_MAX - 62));
    CHECK(!psd_alloc_aligned_zero(64, SIZE_MAX - 62));
    CHECK(!psd_alloc_resize(kept, SIZE_MAX / 2, 3));
    CHECK_TEXT("kept", kept);
    psd_alloc_free(kept);
}

static void an_array_grows_by_one_and_keeps_what_is_in_it(void)
{
    size_t *numbers = NULL;

    for (size_t i = 0; i < 1000; i++) {
        size_t *more = psd_alloc_grow(numbers, i, sizeof *numbers);
        CHECK(more);
        numbers = more;
        numbers[i] = i;
    }
    for (size_t i = 0; i < 1000; i++)
        CHECK(numbers[i] == i);
    CHECK(psd_alloc_grow(numbers, 1000, sizeof *numbers) == numbers); /* there is room up to 1024 */
    psd_alloc_free(numbers);
}

static void text_is_made_as_by_printf(void)
{
    char *text = psd_alloc_text("%s[%d]", "conv1", 7);

    CHECK_TEXT("conv1[7]", text);
    psd_alloc_free(text);
}

static void the_chosen_allocation_fails_and_the_others_do_not(void)
{
    psd_alloc_fail_at(1);
    void *first = psd_alloc(1);
    void *second = psd_alloc(1);
    void *third = psd_alloc(1);

    CHECK(first && !second && third);
    CHECK(strstr(psd_error(), "out of memory"));
    CHECK(psd_alloc_fail_at(-1));
    CHECK(!psd_alloc_fail_at(-1));
    psd_alloc_free(first);
    psd_alloc_free(third);
}

static void aligned_allocations_are_counted_too(void)
{
    psd_alloc_fail_at(0);
    CHECK(!psd_alloc_aligned(64, 100));
    CHECK(psd_alloc_fail_at(-1));
    psd_alloc_fail_at(0);
    CHECK(!psd_alloc_aligned_zero(64, 1 << 20));
    CHECK(psd_alloc_fail_at(-1));
}

int main(int argc, char **argv)
{
    RUN(nothing_is_still_something)
    RUN(zeroed_memory_is_zero)
    RUN(aligned_memory_is_aligned_and_whole)
    RUN(aligned_zeroed_memory_is_zero_also_where_it_was_used_before)
    RUN(aligned_zeroed_memory_is_zero_also_where_it_is_locked)
    RUN(sizes_that_overflow_are_refused)
    RUN(an_array_grows_by_one_and_keeps_what_is_in_it)
    RUN(text_is_made_as_by_printf)
    RUN(the_chosen_allocation_fails_and_the_others_do_not)
    RUN(aligned_allocations_are_counted_too)
}
