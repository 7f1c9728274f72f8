/* positions.c - a hash table with open addressing, at most three quarters full. A table that is too
 * small stays in the arena; together they are no larger than the one in use. */
#include "proto/positions.h"

#include <stdint.h>

struct entry {
    const void *message; /* never followed; NULL: the entry is free */
    unsigned field;
    struct psd_position position;
};

struct psd_positions {
    struct psd_arena *arena; /* borrowed; owns us and the entries */
    struct entry *entries;
    size_t room; /* a power of two */
    size_t used;
};

psd_status psd_positions_create(struct psd_arena *arena, struct psd_positions **out)
{
    struct psd_positions *positions = psd_arena_zero(arena, sizeof *positions);
    if (!positions)
        return PSD_ENOMEM;
    positions->arena = arena;
    positions->room = 64;
    positions->entries = psd_arena_zero(arena, positions->room * sizeof *positions->entries);
    if (!positions->entries)
        return PSD_ENOMEM;
    *out = positions;
    return PSD_OK;
}

/* The entry of that key, or the free one where it belongs. */
static struct entry *place(const struct psd_positions *positions, const void *message,
                           unsigned field)
{
    uint64_t hash = ((uint64_t)(uintptr_t)message ^ field) * UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = (size_t)(hash >> 20);; i++) {
        struct entry *entry = &positions->entries[i & (positions->room - 1)];
        if (!entry->message || (entry->message == message && entry->field == field))
            return entry;
    }
}

static psd_status enlarge(struct psd_positions *positions)
{
    struct psd_positions larger = *positions;

    larger.room *= 2;
    larger.entries = psd_arena_zero(larger.arena, larger.room * sizeof *larger.entries);
    if (!larger.entries)
        return PSD_ENOMEM;
    for (size_t i = 0; i < positions->room; i++) {
        const struct entry *entry = &positions->entries[i];
        if (entry->message)
            *place(&larger, entry->message, entry->field) = *entry;
    }
    *positions = larger;
    return PSD_OK;
}

psd_status psd_positions_add(struct psd_positions *positions, const void *message, unsigned field,
                             struct psd_position position)
{
    if (4 * (positions->used + 1) > 3 * positions->room)
        PSD_TRY(enlarge(positions));
    struct entry *entry = place(positions, message, field);
    if (entry->message)
        return PSD_OK;
    *entry = (struct entry){message, field, position};
    positions->used++;
    return PSD_OK;
}

struct psd_position psd_positions_find(const struct psd_positions *positions, const void *message,
                                       unsigned field)
{
    return positions ? place(positions, message, field)->position : (struct psd_position){0};
}
