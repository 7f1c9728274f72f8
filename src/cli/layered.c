/* layered.c - from nodes and edges to rows, whose places layered_rows.c finds, and to y. */
#include "base/alloc.h"
#include "cli/layered_work.h"

enum {
    BELOW = 28,  /* pixels between ranks, where the edges turn */
    MARGIN = 20, /* around all */
    BEND = 8,    /* as wide as an edge counts where it passes a rank */
};

/* --- rows --------------------------------------------------------------------------------------- */

static size_t span_of(const struct psd_layered *layered, const struct psd_layered_edge *edge)
{
    return layered->nodes[edge->to].rank - layered->nodes[edge->from].rank;
}

static void count_places(struct psd_layered_work *work)
{
    struct psd_layered *layered = work->layered;

    work->n_places = layered->n_nodes;
    for (size_t i = 0; i < layered->n_nodes; i++) {
        if (layered->nodes[i].rank >= layered->n_ranks)
            layered->n_ranks = layered->nodes[i].rank + 1;
    }
    for (size_t i = 0; i < layered->n_edges; i++) {
        layered->edges[i].bend = work->n_places - layered->n_nodes;
        work->n_places += span_of(layered, &layered->edges[i]) - 1;
    }
}

static psd_status take_room(struct psd_layered_work *work)
{
    struct psd_layered *layered = work->layered;
    size_t links = work->n_places + layered->n_edges; /* at least as many as there are */

    work->places = psd_alloc_zero(work->n_places, sizeof *work->places);
    work->row = psd_alloc_zero(work->n_places, sizeof *work->row);
    work->row_first = psd_alloc_zero(layered->n_ranks + 1, sizeof *work->row_first);
    work->up.first = psd_alloc_zero(work->n_places + 1, sizeof *work->up.first);
    work->down.first = psd_alloc_zero(work->n_places + 1, sizeof *work->down.first);
    work->up.list = psd_alloc_zero(links, sizeof *work->up.list);
    work->down.list = psd_alloc_zero(links, sizeof *work->down.list);
    work->sorted = psd_alloc_zero(work->n_places, sizeof *work->sorted);
    work->levels = psd_alloc_zero(work->n_places, sizeof *work->levels);
    layered->top = psd_alloc_zero(layered->n_ranks, sizeof *layered->top);
    layered->bottom = psd_alloc_zero(layered->n_ranks, sizeof *layered->bottom);
    layered->bend_x = psd_alloc_zero(work->n_places - layered->n_nodes, sizeof *layered->bend_x);
    return work->places && work->row && work->row_first && work->up.first && work->down.first &&
                   work->up.list && work->down.list && work->sorted && work->levels &&
                   layered->top && layered->bottom && layered->bend_x
               ? PSD_OK
               : PSD_ENOMEM;
}

static void drop_work(struct psd_layered_work *work)
{
    psd_alloc_free(work->places);
    psd_alloc_free(work->row);
    psd_alloc_free(work->row_first);
    psd_alloc_free(work->up.first);
    psd_alloc_free(work->down.first);
    psd_alloc_free(work->up.list);
    psd_alloc_free(work->down.list);
    psd_alloc_free(work->sorted);
    psd_alloc_free(work->levels);
}

static void make_places(struct psd_layered_work *work)
{
    const struct psd_layered *layered = work->layered;

    for (size_t i = 0; i < layered->n_nodes; i++)
        work->places[i] = (struct psd_layered_place){.rank = layered->nodes[i].rank,
                                                     .width = layered->nodes[i].width};
    for (size_t i = 0; i < layered->n_edges; i++) {
        const struct psd_layered_edge *edge = &layered->edges[i];
        size_t rank = layered->nodes[edge->from].rank;
        for (size_t k = 1; k < span_of(layered, edge); k++)
            work->places[layered->n_nodes + edge->bend + k - 1] =
                (struct psd_layered_place){.rank = rank + k, .width = BEND};
    }
}

/* The only edge of a box goes on as if the box did; one of several is a shortcut around others. */
static void find_light(struct psd_layered_work *work)
{
    const struct psd_layered *layered = work->layered;

    for (size_t i = 0; i < layered->n_edges; i++) {
        const struct psd_layered_edge *edge = &layered->edges[i];
        size_t leaving = work->down.first[edge->from + 1] - work->down.first[edge->from];
        for (size_t k = 1; k < span_of(layered, edge); k++)
            work->places[layered->n_nodes + edge->bend + k - 1].light = leaving > 1;
    }
}

static void make_rows(struct psd_layered_work *work)
{
    size_t ranks = work->layered->n_ranks;

    for (size_t i = 0; i < work->n_places; i++)
        work->row_first[work->places[i].rank + 1]++;
    for (size_t r = 0; r < ranks; r++)
        work->row_first[r + 1] += work->row_first[r];
    for (size_t i = work->n_places; i-- > 0;) { /* row_first[r + 1] runs back to the start of r */
        size_t rank = work->places[i].rank;
        work->row[--work->row_first[rank + 1]] = i;
    }
    for (size_t r = 0; r < ranks; r++)
        work->row_first[r] = work->row_first[r + 1];
    work->row_first[ranks] = work->n_places;
    for (size_t r = 0; r < ranks; r++) {
        for (size_t i = work->row_first[r]; i < work->row_first[r + 1]; i++)
            work->places[work->row[i]].at = i - work->row_first[r];
    }
}

/* The k-th place along an edge, from its upper node on. */
static size_t along(const struct psd_layered_work *work, const struct psd_layered_edge *edge,
                    size_t k)
{
    if (k == 0)
        return edge->from;
    return k == span_of(work->layered, edge) ? edge->to
                                             : work->layered->n_nodes + edge->bend + k - 1;
}

/* Calls `each` for every pair of places that are linked. */
static void for_links(struct psd_layered_work *work,
                      void (*each)(struct psd_layered_work *work, size_t above, size_t below))
{
    for (size_t i = 0; i < work->layered->n_edges; i++) {
        const struct psd_layered_edge *edge = &work->layered->edges[i];
        for (size_t k = 0; k < span_of(work->layered, edge); k++)
            each(work, along(work, edge, k), along(work, edge, k + 1));
    }
}

static void count_link(struct psd_layered_work *work, size_t above, size_t below)
{
    work->up.first[below]++;
    work->down.first[above]++;
}

static void put_link(struct psd_layered_work *work, size_t above, size_t below)
{
    work->up.list[--work->up.first[below]] = above;
    work->down.list[--work->down.first[above]] = below;
}

/* After the sums first[p] is the end of p's list, and its start when all of it is there. */
static void make_links(struct psd_layered_work *work)
{
    for_links(work, count_link);
    for (size_t p = 0; p < work->n_places; p++) {
        work->up.first[p + 1] += work->up.first[p];
        work->down.first[p + 1] += work->down.first[p];
    }
    for_links(work, put_link);
}

static void find_y(struct psd_layered *layered)
{
    double y = MARGIN;

    for (size_t i = 0; i < layered->n_nodes; i++) {
        const struct psd_layered_node *node = &layered->nodes[i];
        if (node->height > layered->bottom[node->rank])
            layered->bottom[node->rank] = node->height;
    }
    for (size_t r = 0; r < layered->n_ranks; r++) {
        layered->top[r] = y;
        layered->bottom[r] += y;
        y = layered->bottom[r] + BELOW;
    }
    layered->height = y - BELOW + MARGIN;
    for (size_t i = 0; i < layered->n_nodes; i++) {
        struct psd_layered_node *node = &layered->nodes[i];
        node->y = (layered->top[node->rank] + layered->bottom[node->rank]) / 2;
    }
}

/* Moves all to the right of the margin. */
static void take_x(struct psd_layered_work *work)
{
    struct psd_layered *layered = work->layered;
    double left = 0, right = 0;

    for (size_t i = 0; i < work->n_places; i++) {
        const struct psd_layered_place *p = &work->places[i];
        left = i && left < p->x - p->width / 2 ? left : p->x - p->width / 2;
        right = i && right > p->x + p->width / 2 ? right : p->x + p->width / 2;
    }
    for (size_t i = 0; i < work->n_places; i++) {
        double x = work->places[i].x - left + MARGIN;
        if (i < layered->n_nodes)
            layered->nodes[i].x = x;
        else
            layered->bend_x[i - layered->n_nodes] = x;
    }
    layered->width = right - left + 2 * MARGIN;
}

psd_status psd_layered_arrange(struct psd_layered *layered)
{
    struct psd_layered_work work = {.layered = layered};

    count_places(&work);
    psd_status status = take_room(&work);
    if (status == PSD_OK) {
        make_places(&work);
        make_rows(&work);
        make_links(&work);
        find_light(&work);
        psd_layered_sort(&work);
        status = psd_layered_settle(&work);
    }
    if (status == PSD_OK) {
        take_x(&work);
        find_y(layered);
    }
    drop_work(&work);
    return status;
}

void psd_layered_fini(struct psd_layered *layered)
{
    psd_alloc_free(layered->top);
    psd_alloc_free(layered->bottom);
    psd_alloc_free(layered->bend_x);
}
