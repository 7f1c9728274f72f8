/* layered_work.h - a graph while it is arranged; only for layered*.c. */
#ifndef PSD_CLI_LAYERED_WORK_H
#define PSD_CLI_LAYERED_WORK_H

#include "cli/layered.h"

#include <stdbool.h>

/* A node, or a bend of an edge. */
struct psd_layered_place {
    size_t rank, at; /* its row, and its number there */
    double width, x;
    bool light; /* gets out of the way: a bend of an edge that leaves its box beside others */
};

/* Its neighbours in the row above or below: list[first[p]] to list[first[p + 1] - 1]. */
struct psd_layered_links {
    size_t *first, *list; /* owned */
};

/* A place and what its row is sorted by. */
struct psd_layered_sorted {
    double key;
    size_t at, place;
};

/* Neighbours that would be in each other's way, and so keep their distance together. */
struct psd_layered_level {
    double sum, weight; /* of what stands together on it */
    size_t count;
};

struct psd_layered_work {
    struct psd_layered *layered;      /* borrowed */
    struct psd_layered_place *places; /* owned, as are the others; nodes first, then bends */
    size_t n_places;
    size_t *row, *row_first; /* places by rank and order; [n_ranks + 1] */
    struct psd_layered_links up, down;
    struct psd_layered_sorted *sorted;
    struct psd_layered_level *levels;
};

/* Puts the places of each row in the order that lets few edges cross. */
void psd_layered_sort(struct psd_layered_work *work);

/* Gives the places of all rows their x. */
psd_status psd_layered_settle(struct psd_layered_work *work);

#endif
