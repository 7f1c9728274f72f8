/* map.h - from a name to a number, such as a blob's name to its place in a list.
 *
 * A hash table with open addressing, at most three quarters full. Names are borrowed: whoever puts
 * one in keeps it alive as long as the map. One thread at a time. */
#ifndef PSD_BASE_MAP_H
#define PSD_BASE_MAP_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd_map_entry {
    const char *name; /* borrowed; NULL: the entry is free */
    size_t value;
};

struct psd_map {
    struct psd_map_entry *entries; /* owned */
    size_t room, count;
};

/* A map with nothing in it; it takes memory with the first put. */
void psd_map_init(struct psd_map *map);
void psd_map_fini(struct psd_map *map);

/* Sets the name's number; a name that is there already gets the new one. */
psd_status psd_map_put(struct psd_map *map, const char *name, size_t value);

/* Finds the name's number; false, and *out untouched, when it is not there. */
bool psd_map_find(const struct psd_map *map, const char *name, size_t *out);

#endif
