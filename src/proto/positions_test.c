/* positions_test.c - where each part of a message was written. */
#include "base/alloc.h"
#include "proto/positions.h"
#include "test.h"

static struct psd_arena *arena; /* of the positions under test */

static struct psd_positions *new_positions(void)
{
    struct psd_positions *positions = NULL;

    CHECK_OK(psd_arena_create(16 << 20, &arena));
    CHECK_OK(psd_positions_create(arena, &positions));
    return positions;
}

static bool stands_at(const struct psd_positions *positions, const void *message, unsigned field,
                      size_t line, size_t column)
{
    struct psd_position at = psd_positions_find(positions, message, field);

    return at.line == line && at.column == column;
}

static void the_first_place_of_a_field_is_remembered(void)
{
    struct psd_positions *positions = new_positions();
    int layer;

    CHECK_OK(psd_positions_add(positions, &layer, 1, (struct psd_position){12, 9}));
    CHECK_OK(psd_positions_add(positions, &layer, 1, (struct psd_position){13, 1}));
    CHECK_OK(psd_positions_add(positions, &layer, 0, (struct psd_position){11, 1}));
    CHECK(stands_at(positions, &layer, 1, 12, 9));
    CHECK(stands_at(positions, &layer, 0, 11, 1));
    psd_arena_destroy(arena);
}

static void what_was_not_written_has_line_0(void)
{
    struct psd_positions *positions = new_positions();
    int layer, other;

    CHECK_OK(psd_positions_add(positions, &layer, 1, (struct psd_position){12, 9}));
    CHECK(stands_at(positions, &layer, 2, 0, 0));
    CHECK(stands_at(positions, &other, 1, 0, 0));
    CHECK(stands_at(NULL, &layer, 1, 0, 0));
    psd_arena_destroy(arena);
}

static void many_places_are_found_again(void)
{
    enum { MESSAGES = 2000, FIELDS = 10 };
    static double messages[MESSAGES];
    struct psd_positions *positions = new_positions();

    for (size_t i = 0; i < MESSAGES; i++) {
        for (unsigned k = 0; k < FIELDS; k++)
            CHECK_OK(
                psd_positions_add(positions, &messages[i], k, (struct psd_position){i + 1, k + 1}));
    }
    for (size_t i = 0; i < MESSAGES; i++) {
        for (unsigned k = 0; k < FIELDS; k++)
            CHECK(stands_at(positions, &messages[i], k, i + 1, k + 1));
        CHECK(stands_at(positions, &messages[i], FIELDS, 0, 0));
    }
    psd_arena_destroy(arena);
}

/* Adds more places than fit at first; says how many are there. */
static psd_status fill(struct psd_positions **positions, unsigned *there)
{
    psd_status status = psd_positions_create(arena, positions);

    for (*there = 0; status == PSD_OK && *there < 200;) {
        status = psd_positions_add(*positions, positions, *there, (struct psd_position){1, 1});
        *there += status == PSD_OK;
    }
    return status;
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_positions *positions = NULL;
        unsigned there;
        CHECK_OK(psd_arena_create(16 << 20, &arena));
        psd_alloc_fail_at(n);
        psd_status status = fill(&positions, &there);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        for (unsigned i = 0; i < there; i++)
            CHECK(stands_at(positions, &positions, i, 1, 1));
        psd_arena_destroy(arena);
    }
}

int main(int argc, char **argv)
{
    RUN(the_first_place_of_a_field_is_remembered)
    RUN(what_was_not_written_has_line_0)
    RUN(many_places_are_found_again)
    RUN(every_failed_allocation_is_survived)
}
