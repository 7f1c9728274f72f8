/* layout_build.c - cuts every parameter from first to last, then deals out the dense pieces from last to
 * first, as backward makes them ready. */
#include "base/alloc.h"
#include "base/status.h"
#include "comm/deal.h"
#include "comm/layout.h"
#include "math/sum.h"

enum { BLOCK_BYTES = PSD_SUM_BLOCK * (int)sizeof(float) };

/* A layout in the making. */
struct draft {
    struct psd_layout *layout; /* borrowed */
    const struct psd_job *job;
    size_t parts_room, pieces_room;
    size_t most, least;      /* bytes of a piece */
    bool is_open;            /* the last piece is one that small parameters may share */
    struct psd_deal work;    /* what is summed and updated: dense parameters and single owners */
    struct psd_deal initial; /* what only travels once: the others */
};

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static psd_status make_room(void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return PSD_OK;
    if (count >= UINT32_MAX / 2)
        return psd_fail(PSD_EINVAL, "the parameters have more than %zu pieces: let them be larger",
                        count);
    size_t larger = *room ? 2 * *room : 64;
    void *moved = psd_alloc_resize(*array, larger, size);
    if (!moved)
        return PSD_ENOMEM;
    *array = moved;
    *room = larger;
    return PSD_OK;
}

/* Appends a range of a parameter to the last piece. */
static psd_status add_part(struct draft *draft, size_t param, size_t first, size_t count)
{
    struct psd_layout *layout = draft->layout;
    struct psd_piece *piece = &layout->pieces[layout->n_pieces - 1];
    void *parts = layout->parts;

    PSD_TRY(make_room(&parts, layout->n_parts, &draft->parts_room, sizeof *layout->parts));
    layout->parts = parts;
    layout->parts[layout->n_parts++] = (struct psd_part){
        .param = (uint32_t)param,
        .piece = (uint32_t)(layout->n_pieces - 1),
        .first = first,
        .count = count,
        .at = piece->count,
    };
    piece->parts++;
    piece->count += count;
    return PSD_OK;
}

/* Appends a piece with one part. */
static psd_status add_piece(struct draft *draft, size_t param, size_t first, size_t count,
                            uint32_t server)
{
    struct psd_layout *layout = draft->layout;
    void *pieces = layout->pieces;

    PSD_TRY(make_room(&pieces, layout->n_pieces, &draft->pieces_room, sizeof *layout->pieces));
    layout->pieces = pieces;
    layout->pieces[layout->n_pieces++] =
        (struct psd_piece){.server = server, .first_part = (uint32_t)layout->n_parts};
    return add_part(draft, param, first, count);
}

/* How many pieces a parameter has: the fewest that are small enough, and as many for each rank as
 * for another unless that made them too small. */
static size_t count_pieces(const struct draft *draft, size_t values)
{
    size_t ranks = draft->job->ranks, blocks = psd_sum_block_count(values);
    size_t whole = values / PSD_SUM_BLOCK, least = most_of(1, draft->least / BLOCK_BYTES);
    size_t most = most_of(1, draft->most / BLOCK_BYTES), fewest = (blocks + most - 1) / most;
    size_t even = (fewest + ranks - 1) / ranks * ranks;

    return whole / even >= least ? even : most_of(fewest, whole / least);
}

/* Cuts a parameter at multiples of blocks into pieces of nearly one size. Those that are not dense
 * are dealt out at once. */
static psd_status cut_blocks(struct draft *draft, size_t param, bool is_dense)
{
    size_t values = psd_job_count(&draft->job->params[param]);
    size_t blocks = psd_sum_block_count(values), pieces = count_pieces(draft, values);
    bool by_turns = pieces % draft->job->ranks == 0;

    for (size_t i = 0; i < pieces; i++) {
        size_t first = i * blocks / pieces * PSD_SUM_BLOCK;
        size_t end = least_of((i + 1) * blocks / pieces * PSD_SUM_BLOCK, values);
        uint32_t server = is_dense ? 0 : psd_deal_give(&draft->initial, end - first, by_turns);
        PSD_TRY(add_piece(draft, param, first, end - first, server));
    }
    return PSD_OK;
}

/* Whether so many values may join the last piece. */
static bool has_room(const struct draft *draft, size_t values)
{
    const struct psd_layout *layout = draft->layout;

    if (!draft->is_open)
        return false;
    const struct psd_piece *piece = &layout->pieces[layout->n_pieces - 1];
    return piece->parts < PSD_LAYOUT_PARTS &&
           (piece->count + values) * sizeof(float) <= draft->least;
}

/* Adds a small dense parameter to the piece of its neighbours while that has room for it. */
static psd_status share_piece(struct draft *draft, size_t param)
{
    size_t values = psd_job_count(&draft->job->params[param]);

    if (has_room(draft, values))
        return add_part(draft, param, 0, values);
    draft->is_open = true;
    return add_piece(draft, param, 0, values, 0);
}

/* Cuts the rows of a matrix that belong to one rank; a row is never cut. */
static psd_status cut_rows(struct draft *draft, size_t param, struct psd_rows rows, uint32_t server)
{
    size_t cols = draft->job->params[param].cols, count = rows.end - rows.first;
    size_t at_once = most_of(1, draft->most / sizeof(float) / cols);
    size_t pieces = (count + at_once - 1) / at_once;

    for (size_t i = 0; i < pieces; i++) {
        size_t first = rows.first + i * count / pieces;
        size_t end = rows.first + (i + 1) * count / pieces;
        PSD_TRY(add_piece(draft, param, first * cols, (end - first) * cols, server));
    }
    return PSD_OK;
}

static psd_status cut_row_shards(struct draft *draft, size_t param)
{
    bool follows = psd_job_follows(draft->job, param);
    size_t weight = follows ? (size_t)draft->job->params[param].bias_of : param;

    for (unsigned rank = 0; rank < draft->job->ranks; rank++) {
        struct psd_rows rows = psd_layout_rows(draft->layout, weight, rank);
        if (follows && rows.first < rows.end)
            PSD_TRY(add_piece(draft, param, rows.first, rows.end - rows.first, rank));
        else if (!follows)
            PSD_TRY(cut_rows(draft, param, rows, rank));
    }
    return PSD_OK;
}

/* All of a matrix to one rank, and its bias to the same. */
static psd_status cut_owned(struct draft *draft, size_t param)
{
    const struct psd_job_param *p = &draft->job->params[param];
    const struct psd_layout *layout = draft->layout;

    if (psd_job_follows(draft->job, param))
        return cut_rows(draft, param, (struct psd_rows){0, p->rows},
                        layout->pieces[layout->params[p->bias_of].first_piece].server);
    uint32_t owner = psd_deal_give(&draft->work, psd_job_count(p), false);
    return cut_rows(draft, param, (struct psd_rows){0, p->rows}, owner);
}

static psd_status cut_factored(struct draft *draft, size_t param)
{
    const struct psd_job_param *weight = &draft->job->params[param];

    if (psd_job_follows(draft->job, param))
        weight = &draft->job->params[weight->bias_of];
    if (weight->route == PSD_ROUTE_ROW_SHARDED)
        return cut_row_shards(draft, param);
    if (weight->route == PSD_ROUTE_SINGLE_OWNER)
        return cut_owned(draft, param);
    return cut_blocks(draft, param, false);
}

static psd_status cut(struct draft *draft, size_t param)
{
    bool is_factored = psd_job_is_factored(draft->job, param);
    size_t bytes = psd_job_count(&draft->job->params[param]) * sizeof(float);

    if (!is_factored && bytes < draft->least)
        return share_piece(draft, param);
    draft->is_open = false;
    return is_factored ? cut_factored(draft, param) : cut_blocks(draft, param, true);
}

static psd_status add_param(struct draft *draft, size_t param)
{
    struct psd_layout *layout = draft->layout;
    size_t first_part = layout->n_parts;

    PSD_TRY(cut(draft, param));
    uint32_t first = layout->parts[first_part].piece;
    layout->params[param] = (struct psd_layout_param){
        .first_piece = first,
        .pieces = (uint32_t)(layout->n_pieces - first),
        .first_part = (uint32_t)first_part,
    };
    return PSD_OK;
}

/* Those that are learned or those that are averaged. */
static psd_status add_params(struct draft *draft, bool averaged)
{
    draft->is_open = false;
    for (size_t param = 0; param < draft->job->n_params; param++) {
        if (draft->job->params[param].averaged == averaged)
            PSD_TRY(add_param(draft, param));
    }
    return PSD_OK;
}

/* What is averaged comes last, so that it is together whatever stands between: a net has many tiny
 * statistics, two or three in a layer. */
static psd_status cut_all(struct draft *draft)
{
    PSD_TRY(add_params(draft, false));
    return add_params(draft, true);
}

static void deal_dense(struct draft *draft)
{
    const struct psd_layout *layout = draft->layout;

    for (size_t i = layout->n_pieces; i-- > 0;) {
        struct psd_piece *piece = &layout->pieces[i];
        uint32_t param = layout->parts[piece->first_part].param;
        bool by_turns = layout->params[param].pieces % draft->job->ranks == 0;
        if (!psd_job_is_factored(draft->job, param))
            piece->server = psd_deal_give(&draft->work, piece->count, by_turns);
    }
}

static psd_status fill(struct psd_layout *layout, size_t most)
{
    struct draft draft = {.layout = layout, .job = layout->job, .most = most};

    draft.least = least_of(most, PSD_LAYOUT_LEAST);
    psd_status status = psd_deal_init(&draft.work, draft.job->ranks);
    if (status == PSD_OK)
        status = psd_deal_init(&draft.initial, draft.job->ranks);
    if (status == PSD_OK)
        status = cut_all(&draft);
    if (status == PSD_OK)
        deal_dense(&draft);
    psd_deal_fini(&draft.initial);
    psd_deal_fini(&draft.work);
    return status;
}

psd_status psd_layout_create(const struct psd_job *job, size_t most, struct psd_layout **out)
{
    struct psd_layout *layout = psd_alloc_zero(1, sizeof *layout);

    if (!layout)
        return PSD_ENOMEM;
    layout->job = job;
    layout->most = most ? most : PSD_LAYOUT_MOST;
    layout->params = psd_alloc_zero(job->n_params, sizeof *layout->params);
    psd_status status = layout->params ? fill(layout, layout->most) : PSD_ENOMEM;
    if (status == PSD_OK)
        *out = layout;
    else
        psd_layout_destroy(layout);
    return status;
}
