/* map.c - names hashed by FNV-1a. */
#include "base/map.h"
#include "base/alloc.h"

#include <string.h>

void psd_map_init(struct psd_map *map)
{
    *map = (struct psd_map){0};
}

void psd_map_fini(struct psd_map *map)
{
    psd_alloc_free(map->entries);
    *map = (struct psd_map){0};
}

static uint64_t hash(const char *name)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return value;
}

/* The entry of that name, or the free one where it belongs. */
static struct psd_map_entry *place(const struct psd_map *map, const char *name)
{
    for (uint64_t i = hash(name);; i++) {
        struct psd_map_entry *entry = &map->entries[i & (map->room - 1)];
        if (!entry->name || strcmp(entry->name, name) == 0)
            return entry;
    }
}

static psd_status enlarge(struct psd_map *map)
{
    struct psd_map larger = {.room = map->room ? 2 * map->room : 16, .count = map->count};

    larger.entries = psd_alloc_zero(larger.room, sizeof *larger.entries);
    if (!larger.entries)
        return PSD_ENOMEM;
    for (size_t i = 0; i < map->room; i++) {
        if (map->entries[i].name)
            *place(&larger, map->entries[i].name) = map->entries[i];
    }
    psd_alloc_free(map->entries);
    *map = larger;
    return PSD_OK;
}

psd_status psd_map_put(struct psd_map *map, const char *name, size_t value)
{
    if (4 * (map->count + 1) > 3 * map->room)
        PSD_TRY(enlarge(map));
    struct psd_map_entry *entry = place(map, name);
    map->count += !entry->name;
    *entry = (struct psd_map_entry){name, value};
    return PSD_OK;
}

bool psd_map_find(const struct psd_map *map, const char *name, size_t *out)
{
    if (!map->room)
        return false;
    const struct psd_map_entry *entry = place(map, name);
    if (!entry->name)
        return false;
    *out = entry->value;
    return true;
}
