/* layered_rows.c - the order of each row, and its places.
 *
 * Rows are swept down and up, again and again: each place wants to be where its neighbours in the row
 * before are in the middle. */
#include "base/alloc.h"
#include "cli/layered_work.h"

#include <stdlib.h>

enum {
    APART = 26, /* pixels between boxes of a rank */
    SWEEPS = 12,
    HEAVY = 1000, /* what is not light weighs so much more */
};

/* --- order -------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct psd_layered_sorted *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The mean number of p's neighbours in their row; `own` where it has none. */
static double mean_order(const struct psd_layered_work *work, const struct psd_layered_links *links,
                         size_t p, double own)
{
    size_t from = links->first[p], to = links->first[p + 1];
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += (double)work->places[links->list[i]].at;
    return to > from ? sum / (double)(to - from) : own;
}

static void sort_row(struct psd_layered_work *work, size_t rank,
                     const struct psd_layered_links *links)
{
    size_t first = work->row_first[rank], count = work->row_first[rank + 1] - first;

    for (size_t i = 0; i < count; i++) {
        size_t p = work->row[first + i];
        work->sorted[i] = (struct psd_layered_sorted){mean_order(work, links, p, (double)i), i, p};
    }
    qsort(work->sorted, count, sizeof *work->sorted, compare);
    for (size_t i = 0; i < count; i++) {
        work->row[first + i] = work->sorted[i].place;
        work->places[work->sorted[i].place].at = i;
    }
}

void psd_layered_sort(struct psd_layered_work *work)
{
    size_t ranks = work->layered->n_ranks;

    for (int sweep = 0; sweep < SWEEPS / 3; sweep++) {
        for (size_t r = 1; r < ranks; r++)
            sort_row(work, r, &work->up);
        for (size_t r = ranks; r-- > 1;)
            sort_row(work, r - 1, &work->down);
    }
    for (size_t r = 1; r < ranks; r++)
        sort_row(work, r, &work->up);
}

/* --- places ------------------------------------------------------------------------------------- */

/* The mean x of p's neighbours; the light ones count where there are no others, so that chains of boxes are
 * straight and shortcuts go around them. */
static double mean_x(const struct psd_layered_work *work, const struct psd_layered_links *links,
                     size_t p)
{
    size_t count[2] = {0, 0};
    double sum[2] = {0, 0};

    for (size_t i = links->first[p]; i < links->first[p + 1]; i++) {
        const struct psd_layered_place *other = &work->places[links->list[i]];
        sum[other->light] += other->x;
        count[other->light]++;
    }
    bool light = count[0] == 0;
    return count[light] ? sum[light] / (double)count[light] : work->places[p].x;
}

/* Gives the row the x nearest to those wished for, in the sense of least squares, that keep order and
 * distance: without the distances that is a regression that never falls, found by letting
 * neighbours that would fall stand on one level. */
static void settle(struct psd_layered_work *work, size_t rank, const double *wish)
{
    size_t first = work->row_first[rank], count = work->row_first[rank + 1] - first, n = 0;
    double offset = 0;

    for (size_t i = 0; i < count; i++) {
        const struct psd_layered_place *p = &work->places[work->row[first + i]];
        double weight = p->light ? 1 : HEAVY;
        offset += i ? p->width / 2 : 0;
        work->levels[n++] = (struct psd_layered_level){(wish[i] - offset) * weight, weight, 1};
        for (; n > 1 && work->levels[n - 1].sum * work->levels[n - 2].weight <
                            work->levels[n - 2].sum * work->levels[n - 1].weight;
             n--) {
            work->levels[n - 2].sum += work->levels[n - 1].sum;
            work->levels[n - 2].weight += work->levels[n - 1].weight;
            work->levels[n - 2].count += work->levels[n - 1].count;
        }
        offset += p->width / 2 + APART;
    }
    offset = 0;
    for (size_t i = 0, level = 0, left = work->levels[0].count; i < count; i++) {
        struct psd_layered_place *p = &work->places[work->row[first + i]];
        if (left-- == 0)
            left = work->levels[++level].count - 1;
        offset += i ? p->width / 2 : 0;
        p->x = work->levels[level].sum / work->levels[level].weight + offset;
        offset += p->width / 2 + APART;
    }
}

/* Wishes are kept where the order of the row was sorted, which is over. */
static void place_row(struct psd_layered_work *work, size_t rank,
                      const struct psd_layered_links *links, double *wish)
{
    size_t first = work->row_first[rank], count = work->row_first[rank + 1] - first;

    for (size_t i = 0; i < count; i++) {
        size_t p = work->row[first + i];
        wish[i] = links ? mean_x(work, links, p) : 0;
    }
    settle(work, rank, wish);
}

psd_status psd_layered_settle(struct psd_layered_work *work)
{
    size_t ranks = work->layered->n_ranks;
    double *wish = psd_alloc_zero(work->n_places, sizeof *wish);

    if (!wish)
        return PSD_ENOMEM;
    for (size_t r = 0; r < ranks; r++)
        place_row(work, r, NULL, wish);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (size_t r = 1; r < ranks; r++)
            place_row(work, r, &work->up, wish);
        for (size_t r = ranks; r-- > 1;)
            place_row(work, r - 1, &work->down, wish);
    }
    psd_alloc_free(wish);
    return PSD_OK;
}
