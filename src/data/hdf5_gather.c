/* hdf5_gather.c - rows of a chunked dataset, from the boxes that they go through.
 *
 *     rows 2 to 5     . . . | . . .      each box is read and unpacked once; of it only what is
 *                     x x x | x x x      in the rows, and in the dataset, is copied
 *                     ------+------
 *                     x x x | x x x */
#include "base/alloc.h"
#include "data/hdf5_dataset.h"

#include <string.h>

/* A box of the grid, and what of it is wanted: from `low` to `high` in values of the dataset. */
struct box {
    uint64_t place[PSD_HDF5_AXES]; /* in the grid */
    uint64_t low[PSD_HDF5_AXES], high[PSD_HDF5_AXES];
};

/* --- unpacking ---------------------------------------------------------------------------------- */

static psd_status reserve(struct psd_hdf5_dataset *dataset, size_t room)
{
    if (room <= dataset->room)
        return PSD_OK;
    dataset->unpacked = NULL;
    psd_alloc_free(dataset->bytes);
    psd_alloc_free(dataset->spare);
    dataset->bytes = psd_alloc(room);
    dataset->spare = psd_alloc(room);
    dataset->room = dataset->bytes && dataset->spare ? room : 0;
    return dataset->room ? PSD_OK : PSD_ENOMEM;
}

static psd_status unpack(struct psd_hdf5_dataset *dataset, const struct psd_hdf5_chunk *chunk)
{
    size_t size = (size_t)dataset->chunks.bytes, sums = 4 * dataset->filters.count;
    size_t room = (chunk->size > size ? chunk->size : size) + sums;

    if (dataset->unpacked && dataset->number == chunk->number)
        return PSD_OK;
    if (!psd_hdf5_filters_can(&dataset->filters, chunk->size, size))
        return psd_hdf5_file_damaged(dataset->file, chunk->at,
                                     "a chunk is too small for what is said to be in it");
    PSD_TRY(reserve(dataset, room));
    dataset->unpacked = NULL;
    PSD_TRY(psd_hdf5_file_read(dataset->file, chunk->at, dataset->bytes, chunk->size));
    PSD_TRY(psd_hdf5_filters_undo(&dataset->filters, dataset->file, chunk->at, chunk->skipped,
                                  dataset->bytes, dataset->spare, dataset->room, chunk->size, size,
                                  &dataset->unpacked));
    dataset->number = chunk->number;
    return PSD_OK;
}

/* --- copying ------------------------------------------------------------------------------------ */

/* Where the value at `at` is among those of a box of shape `dim` that begins at `begin`. */
static uint64_t place_of(size_t axes, const uint64_t *at, const uint64_t *begin,
                         const uint64_t *dim)
{
    uint64_t place = 0;

    for (size_t i = 0; i < axes; i++)
        place = place * dim[i] + at[i] - begin[i];
    return place;
}

/* The next value that begins a run along the last axis; false after the last. */
static bool next_run(size_t axes, const struct box *box, uint64_t *at)
{
    for (size_t i = axes - 1; i-- > 0;) {
        if (++at[i] < box->high[i])
            return true;
        at[i] = box->low[i];
    }
    return false;
}

/* Copies what is wanted of the box; without bytes it was never written. */
static void copy_box(const struct psd_hdf5_dataset *dataset, const struct box *box,
                     const unsigned char *bytes, const uint64_t *from, float *out)
{
    size_t axes = dataset->space.axes, width = dataset->type.size;
    size_t run = (size_t)(box->high[axes - 1] - box->low[axes - 1]);
    uint64_t at[PSD_HDF5_AXES], begin[PSD_HDF5_AXES];

    memcpy(at, box->low, sizeof at);
    for (size_t i = 0; i < axes; i++)
        begin[i] = box->place[i] * dataset->layout.chunk[i];
    do {
        float *to = out + place_of(axes, at, from, dataset->space.dim);
        uint64_t place = place_of(axes, at, begin, dataset->layout.chunk);
        if (bytes)
            psd_hdf5_type_convert(&dataset->type, bytes + place * width, run, to);
        for (size_t i = 0; !bytes && i < run; i++)
            psd_hdf5_type_convert(&dataset->type, dataset->fill, 1, to + i);
    } while (next_run(axes, box, at));
}

static psd_status gather_box(struct psd_hdf5_dataset *dataset, const struct box *box,
                             const uint64_t *from, float *out)
{
    static const uint64_t origin[PSD_HDF5_AXES];
    uint64_t number = place_of(dataset->space.axes, box->place, origin, dataset->chunks.grid);
    const struct psd_hdf5_chunk *chunk = psd_hdf5_chunks_at(&dataset->chunks, number);

    if (chunk)
        PSD_TRY(unpack(dataset, chunk));
    copy_box(dataset, box, chunk ? dataset->unpacked : NULL, from, out);
    return PSD_OK;
}

/* --- boxes of the rows -------------------------------------------------------------------------- */

/* What of the box at its place is in the rows and in the dataset. */
static void clip(const struct psd_hdf5_dataset *dataset, uint64_t first, uint64_t end,
                 struct box *box)
{
    for (size_t i = 0; i < dataset->space.axes; i++) {
        uint64_t size = dataset->layout.chunk[i], limit = i ? dataset->space.dim[i] : end;
        uint64_t low = box->place[i] * size;
        box->low[i] = !i && low < first ? first : low;
        box->high[i] = limit - low < size ? limit : low + size;
    }
}

/* The next box; false after the last one of the rows. */
static bool next_box(const struct psd_hdf5_dataset *dataset, uint64_t last, struct box *box)
{
    for (size_t i = dataset->space.axes; i-- > 0;) {
        if (++box->place[i] < (i ? dataset->chunks.grid[i] : last + 1))
            return true;
        box->place[i] = 0;
    }
    return false;
}

psd_status psd_hdf5_dataset_gather(struct psd_hdf5_dataset *dataset, uint64_t first, uint64_t count,
                                   float *out)
{
    uint64_t from[PSD_HDF5_AXES] = {first}, size = dataset->layout.chunk[0];
    struct box box = {.place = {first / size}};

    if (!count || !psd_hdf5_dataset_row(dataset))
        return PSD_OK;
    do {
        clip(dataset, first, first + count, &box);
        PSD_TRY(gather_box(dataset, &box, from, out));
    } while (next_box(dataset, (first + count - 1) / size, &box));
    return PSD_OK;
}
