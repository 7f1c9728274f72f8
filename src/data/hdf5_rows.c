/* hdf5_rows.c - which file a row is in, and the order of files and rows. */
#include "data/hdf5_rows.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/path.h"
#include "base/random.h"
#include "data/hdf5_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t\r\n\v\f";

struct source {
    char *path; /* owned */
    uint64_t rows;
};

struct psd_hdf5_rows {
    struct source *sources; /* owned */
    size_t n_sources;
    struct psd_hdf5_window *columns; /* owned */
    size_t n_columns;
    uint64_t count;
    bool shuffle;
    uint64_t seed, stream;

    struct psd_hdf5 *file; /* owned; NULL: none is open */
    size_t open;           /* which one it is */

    bool has_files; /* of time `files_time` in `files` */
    uint64_t files_time;
    size_t *files;  /* owned; the order of the files */
    bool has_order; /* of the rows of file `order_file` in time `order_time` */
    uint64_t order_time;
    size_t order_file;
    uint32_t *order; /* owned */
};

/* --- the list ----------------------------------------------------------------------------------- */

static psd_status add_source(struct psd_hdf5_rows *rows, const char *list, const char *name,
                             size_t length)
{
    struct source *sources = psd_alloc_grow(rows->sources, rows->n_sources, sizeof *sources);

    if (!sources)
        return PSD_ENOMEM;
    rows->sources = sources;
    char *named = psd_alloc_text("%.*s", (int)length, name);
    if (!named)
        return PSD_ENOMEM;
    sources[rows->n_sources] = (struct source){0};
    psd_status status = psd_path_find(named, list, &sources[rows->n_sources].path);
    rows->n_sources += status == PSD_OK;
    psd_alloc_free(named);
    return status;
}

static psd_status read_list(struct psd_hdf5_rows *rows, const char *list)
{
    struct psd_file file;

    PSD_TRY(psd_file_open(list, &file));
    char *text = psd_alloc_text("%.*s", (int)(file.size < 1 << 30 ? file.size : 0), file.data);
    psd_file_close(&file);
    psd_status status = text ? PSD_OK : PSD_ENOMEM;
    for (const char *at = text; status == PSD_OK && *(at += strspn(at, blanks));) {
        size_t length = strcspn(at, blanks);
        status = add_source(rows, list, at, length);
        at += length;
    }
    psd_alloc_free(text);
    if (status == PSD_OK && !rows->n_sources)
        return psd_fail(PSD_ECONFIG, "%s names no file", list);
    return status;
}

/* --- files -------------------------------------------------------------------------------------- */

static void close_file(struct psd_hdf5_rows *rows)
{
    for (size_t i = 0; i < rows->n_columns; i++)
        psd_hdf5_window_close(&rows->columns[i]);
    psd_hdf5_close(rows->file);
    rows->file = NULL;
}

/* All files have the shape of the first, and as many rows in each dataset. */
static psd_status check_column(struct psd_hdf5_rows *rows, size_t which, size_t i)
{
    struct psd_hdf5_window *column = &rows->columns[i];
    const struct psd_hdf5_space *space = psd_hdf5_dataset_space(column->dataset);
    struct source *source = &rows->sources[which];

    if (!space->axes)
        return psd_fail(PSD_ECONFIG, "%s: \"%s\" is one value and has no rows", source->path,
                        column->name);
    if (which == 0) {
        column->space = *space;
        column->row = 1;
        for (size_t k = 1; k < space->axes; k++)
            column->row *= space->dim[k];
    }
    if (space->axes != column->space.axes ||
        memcmp(space->dim + 1, column->space.dim + 1, (space->axes - 1) * sizeof *space->dim) != 0)
        return psd_fail(PSD_ECONFIG, "%s: the rows of \"%s\" have another shape than in %s",
                        source->path, column->name, rows->sources[0].path);
    if (i == 0)
        source->rows = space->dim[0];
    if (source->rows != space->dim[0] || space->dim[0] > UINT32_MAX)
        return psd_fail(PSD_ECONFIG,
                        "%s: \"%s\" has %" PRIu64 " rows and \"%s\" has %" PRIu64
                        "; they are as many, and below 2^32",
                        source->path, column->name, space->dim[0], rows->columns[0].name,
                        source->rows);
    return PSD_OK;
}

static psd_status open_file(struct psd_hdf5_rows *rows, size_t which)
{
    if (rows->file && rows->open == which)
        return PSD_OK;
    close_file(rows);
    rows->open = which;
    PSD_TRY(psd_hdf5_open(rows->sources[which].path, &rows->file));
    for (size_t i = 0; i < rows->n_columns; i++) {
        uint64_t was = rows->sources[which].rows;
        PSD_TRY(
            psd_hdf5_dataset_open(rows->file, rows->columns[i].name, &rows->columns[i].dataset));
        PSD_TRY(check_column(rows, which, i));
        if (rows->count && rows->sources[which].rows != was)
            return psd_fail(PSD_ECONFIG, "%s was changed since it was opened",
                            rows->sources[which].path);
    }
    return PSD_OK;
}

static psd_status look(struct psd_hdf5_rows *rows)
{
    uint64_t count = 0;

    for (size_t i = 0; i < rows->n_sources; i++) {
        PSD_TRY(open_file(rows, i));
        count += rows->sources[i].rows;
    }
    rows->count = count;
    return count ? PSD_OK
                 : psd_fail(PSD_ECONFIG, "%s has no rows, nor has any other file of the list",
                            rows->sources[0].path);
}

/* --- opening ------------------------------------------------------------------------------------ */

static psd_status take_columns(struct psd_hdf5_rows *rows,
                               const struct psd_hdf5_rows_options *options)
{
    rows->columns = psd_alloc_zero(options->columns, sizeof *rows->columns);
    if (!rows->columns)
        return PSD_ENOMEM;
    for (size_t i = 0; i < options->columns; i++) {
        rows->columns[i].name = psd_alloc_text("%s", options->names[i]);
        rows->n_columns++;
        if (!rows->columns[i].name)
            return PSD_ENOMEM;
    }
    return PSD_OK;
}

static psd_status start(struct psd_hdf5_rows *rows, const struct psd_hdf5_rows_options *options)
{
    rows->shuffle = options->shuffle;
    rows->seed = options->seed;
    rows->stream = options->stream;
    PSD_TRY(take_columns(rows, options));
    PSD_TRY(read_list(rows, options->list));
    rows->files = psd_alloc_zero(rows->n_sources, sizeof *rows->files);
    if (!rows->files)
        return PSD_ENOMEM;
    return look(rows);
}

psd_status psd_hdf5_rows_open(const struct psd_hdf5_rows_options *options,
                              struct psd_hdf5_rows **out)
{
    struct psd_hdf5_rows *rows = psd_alloc_zero(1, sizeof *rows);

    if (!rows)
        return PSD_ENOMEM;
    psd_status status = start(rows, options);
    if (status == PSD_OK)
        *out = rows;
    else
        psd_hdf5_rows_close(rows);
    return status;
}

void psd_hdf5_rows_close(struct psd_hdf5_rows *rows)
{
    if (!rows)
        return;
    close_file(rows);
    for (size_t i = 0; i < rows->n_sources; i++)
        psd_alloc_free(rows->sources[i].path);
    for (size_t i = 0; i < rows->n_columns; i++)
        psd_alloc_free(rows->columns[i].name);
    psd_alloc_free(rows->sources);
    psd_alloc_free(rows->columns);
    psd_alloc_free(rows->files);
    psd_alloc_free(rows->order);
    psd_alloc_free(rows);
}

const struct psd_hdf5_space *psd_hdf5_rows_space(const struct psd_hdf5_rows *rows, size_t column)
{
    return &rows->columns[column].space;
}

uint64_t psd_hdf5_rows_count(const struct psd_hdf5_rows *rows)
{
    return rows->count;
}

void psd_hdf5_rows_reseed(struct psd_hdf5_rows *rows, uint64_t seed)
{
    rows->seed = seed;
    rows->has_files = rows->has_order = false;
}

/* --- order -------------------------------------------------------------------------------------- */

/* The place that the i-th of what is shuffled as `which` changes with, from the last to the first. */
static uint64_t drawn(const struct psd_hdf5_rows *rows, uint64_t time, size_t which, uint64_t i)
{
    uint64_t block = (time * (rows->n_sources + 1) + which) << 32 | i;

    return psd_random_below(rows->seed, rows->stream, block, i + 1);
}

static void order_files(struct psd_hdf5_rows *rows, uint64_t time)
{
    if (rows->has_files && (!rows->shuffle || rows->files_time == time))
        return;
    for (size_t i = 0; i < rows->n_sources; i++)
        rows->files[i] = i;
    for (size_t i = rows->n_sources; rows->shuffle && i-- > 1;) {
        size_t with = (size_t)drawn(rows, time, 0, i), was = rows->files[i];
        rows->files[i] = rows->files[with];
        rows->files[with] = was;
    }
    rows->has_files = true;
    rows->files_time = time;
}

static psd_status order_rows(struct psd_hdf5_rows *rows, uint64_t time, size_t file)
{
    size_t count = (size_t)rows->sources[file].rows;

    if (rows->has_order && rows->order_time == time && rows->order_file == file)
        return PSD_OK;
    rows->has_order = false;
    uint32_t *order = psd_alloc_resize(rows->order, count, sizeof *order);
    if (!order)
        return PSD_ENOMEM;
    rows->order = order;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i-- > 1;) {
        size_t with = (size_t)drawn(rows, time, 1 + file, i);
        uint32_t was = order[i];
        order[i] = order[with];
        order[with] = was;
    }
    rows->has_order = true;
    rows->order_time = time;
    rows->order_file = file;
    return PSD_OK;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* Reads rows of the open file, `done` rows behind the start of `out`. */
static psd_status read_run(struct psd_hdf5_rows *rows, uint64_t first, size_t count, size_t done,
                           float *const *out)
{
    for (size_t i = 0; i < rows->n_columns; i++) {
        struct psd_hdf5_window *column = &rows->columns[i];
        float *to = out[i] + done * (size_t)column->row;
        if (rows->shuffle)
            PSD_TRY(psd_hdf5_window_pick(column, rows->order + first, count, to));
        else
            PSD_TRY(psd_hdf5_window_read(column, first, count, to));
    }
    return PSD_OK;
}

/* The file with row `*row` of this time, which becomes the row in it. */
static size_t find_file(struct psd_hdf5_rows *rows, uint64_t time, uint64_t *row)
{
    size_t i = 0;

    order_files(rows, time);
    while (*row >= rows->sources[rows->files[i]].rows)
        *row -= rows->sources[rows->files[i++]].rows;
    return rows->files[i];
}

psd_status psd_hdf5_rows_read(struct psd_hdf5_rows *rows, uint64_t first, size_t count,
                              float *const *out)
{
    for (size_t done = 0; done < count;) {
        uint64_t time = (first + done) / rows->count, row = (first + done) % rows->count;
        size_t file = find_file(rows, time, &row);
        uint64_t left = rows->sources[file].rows - row;
        size_t run = count - done < left ? count - done : (size_t)left;
        psd_status status = open_file(rows, file);
        if (status == PSD_OK && rows->shuffle)
            status = order_rows(rows, time, file);
        if (status == PSD_OK)
            status = read_run(rows, row, run, done, out);
        if (status != PSD_OK) {
            close_file(rows); /* perhaps it was opened in part */
            return status;
        }
        done += run;
    }
    return PSD_OK;
}
