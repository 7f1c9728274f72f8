/* arena_test.c - memory that is given back all at once. */
#include "base/alloc.h"
#include "base/arena.h"
#include "test.h"

#include <stdint.h>

static struct psd_arena *new_arena(size_t budget)
{
    struct psd_arena *arena = NULL;
    CHECK_OK(psd_arena_create(budget, &arena));
    return arena;
}

static void pieces_do_not_overlap_and_are_aligned(void)
{
    struct psd_arena *arena = new_arena(64 << 20);
    unsigned char *pieces[500];
    size_t sizes[500];

    for (size_t i = 0; i < 500; i++) {
        sizes[i] = i % 7 == 0 ? 40000 + i : i;
        pieces[i] = psd_arena_alloc(arena, sizes[i]);
        CHECK(pieces[i] && (uintptr_t)pieces[i] % 16 == 0);
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < 500; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            CHECK(pieces[i][k] == i % 251);
    }
    psd_arena_destroy(arena);
}

static void arrays_keep_their_contents_while_they_grow(void)
{
    struct psd_arena *arena = new_arena(64 << 20);
    uint32_t *a = NULL, *b = NULL;

    for (uint32_t n = 0; n < 100000; n++) {
        a = psd_arena_grow(arena, a, n * sizeof *a, (n + 1) * sizeof *a);
        b = psd_arena_grow(arena, b, n * sizeof *b, (n + 1) * sizeof *b);
        CHECK(a && b);
        a[n] = n;
        b[n] = ~n;
    }
    for (uint32_t n = 0; n < 100000; n++)
        CHECK(a[n] == n && b[n] == ~n);
    CHECK(psd_arena_used(arena) < sizeof *a * 4 * 2 * 100000);
    psd_arena_destroy(arena);
}

static void a_large_first_step_takes_no_more_than_it_needs(void)
{
    struct psd_arena *arena = new_arena(64 << 20);

    CHECK(psd_arena_grow(arena, NULL, 0, 10000000));
    CHECK(psd_arena_used(arena) == 10000000);
    psd_arena_destroy(arena);
}

static void the_budget_is_kept(void)
{
    struct psd_arena *arena = new_arena(1 << 20);
    void *array = psd_arena_grow(arena, NULL, 0, 500000);

    CHECK(array && psd_arena_alloc(arena, 500000));
    CHECK(!psd_arena_alloc(arena, 100000));
    CHECK(strstr(psd_error(), "1 MiB"));
    CHECK(!psd_arena_grow(arena, array, 500000, 700000));
    CHECK(!psd_arena_alloc(arena, SIZE_MAX));
    CHECK(psd_arena_alloc(arena, 1000));
    psd_arena_destroy(arena);
}

static void text_gets_its_end(void)
{
    struct psd_arena *arena = new_arena(1000);

    CHECK_TEXT("conv", psd_arena_text(arena, "conv1", 4));
    CHECK_TEXT("", psd_arena_text(arena, "conv1", 0));
    psd_arena_destroy(arena);
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_arena *arena = NULL;
        void *small = NULL, *large = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_arena_create(1 << 20, &arena);
        if (status == PSD_OK) {
            small = psd_arena_zero(arena, 10);
            large = psd_arena_grow(arena, NULL, 0, 100000);
            if (large && !psd_arena_grow(arena, large, 100000, 200000))
                large = NULL;
        }
        failed = psd_alloc_fail_at(-1);
        CHECK(failed != (arena && small && large));
        psd_arena_destroy(arena);
    }
}

int main(int argc, char **argv)
{
    RUN(pieces_do_not_overlap_and_are_aligned)
    RUN(arrays_keep_their_contents_while_they_grow)
    RUN(a_large_first_step_takes_no_more_than_it_needs)
    RUN(the_budget_is_kept)
    RUN(text_gets_its_end)
    RUN(every_failed_allocation_is_survived)
}
