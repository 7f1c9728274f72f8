/* hdf5_dataset.c - a dataset from its messages, and values that are in one piece. */
#include "data/hdf5_dataset.h"
#include "base/alloc.h"
#include "base/little.h"

#include <string.h>

enum { PIECE = 64 << 10 }; /* bytes that are converted at a time */

/* --- opening ------------------------------------------------------------------------------------ */

/* Version 1 and 2: version 0  times 1  is there 3  size 4  value 8; 3: version 0  flags 1  size 2  value */
static psd_status read_fill(struct psd_hdf5_dataset *dataset,
                            const struct psd_hdf5_message *message)
{
    const unsigned char *bytes = message->bytes;
    unsigned version = message->size > 3 ? bytes[0] : 0;
    bool is_there = version == 3 ? bytes[1] & 32 : version == 1 || (version == 2 && bytes[3]);
    size_t at = version == 3 ? 2 : 4;

    if (!is_there || message->size < at + 4)
        return PSD_OK;
    uint64_t size = psd_little_get(bytes + at, 4);
    if (size <= sizeof dataset->fill && size <= message->size - at - 4)
        memcpy(dataset->fill, bytes + at + 4, (size_t)size);
    return PSD_OK;
}

static psd_status take_message(void *context, const struct psd_hdf5_message *message)
{
    struct psd_hdf5_dataset *dataset = context;

    switch (message->type) {
    case PSD_HDF5_SPACE:
        dataset->has_space = true;
        return psd_hdf5_space_read(dataset->file, message, &dataset->space);
    case PSD_HDF5_TYPE:
        dataset->has_type = true;
        return psd_hdf5_type_read(dataset->file, message, &dataset->type);
    case PSD_HDF5_LAYOUT:
        dataset->has_layout = true;
        return psd_hdf5_layout_read(dataset->file, message, &dataset->layout);
    case PSD_HDF5_FILTERS:
        return psd_hdf5_filters_read(dataset->file, message, &dataset->filters);
    case PSD_HDF5_FILL:
        return read_fill(dataset, message);
    case PSD_HDF5_EXTERNAL:
        return psd_hdf5_file_unknown(dataset->file, message->at,
                                     "values in other files are not read");
    default:
        return PSD_OK;
    }
}

/* A dataset that nobody could have written to this file is refused before anybody asks for memory for
 * it: gzip packs 1032 times at most, and what was never written is small. */
static psd_status check_size(const struct psd_hdf5_dataset *dataset)
{
    uint64_t count = dataset->space.count, width = dataset->type.size;
    uint64_t most = dataset->file->size * 1100 + (64 << 10);

    if (count && width > most / count)
        return psd_hdf5_file_damaged(dataset->file, dataset->at,
                                     "a dataset is larger than the file could hold");
    if (dataset->layout.kind == PSD_HDF5_CHUNKED || dataset->layout.at == PSD_HDF5_NOWHERE)
        return PSD_OK;
    if (dataset->layout.size < count * width || dataset->layout.at > dataset->file->size ||
        count * width > dataset->file->size - dataset->layout.at)
        return psd_hdf5_file_damaged(dataset->file, dataset->at,
                                     "the values of a dataset are not whole in the file");
    return PSD_OK;
}

static psd_status find_chunks(struct psd_hdf5_dataset *dataset)
{
    if (dataset->layout.kind != PSD_HDF5_CHUNKED)
        return PSD_OK;
    if (dataset->layout.axes != dataset->space.axes)
        return psd_hdf5_file_damaged(dataset->file, dataset->at,
                                     "chunks have other axes than their dataset");
    return psd_hdf5_chunks_find(dataset->file, &dataset->layout, &dataset->space,
                                dataset->type.size, dataset->filters.count != 0, &dataset->chunks);
}

static psd_status read_dataset(struct psd_hdf5_dataset *dataset)
{
    PSD_TRY(psd_hdf5_header_read(dataset->file, dataset->at, take_message, dataset));
    if (!dataset->has_space || !dataset->has_type || !dataset->has_layout)
        return psd_fail(PSD_ECONFIG, "%s: \"%s\" is no dataset", dataset->file->path,
                        dataset->name);
    dataset->filters.width = dataset->type.size;
    PSD_TRY(check_size(dataset));
    return find_chunks(dataset);
}

psd_status psd_hdf5_dataset_open_at(const struct psd_hdf5_file *file, uint64_t at, const char *name,
                                    struct psd_hdf5_dataset **out)
{
    struct psd_hdf5_dataset *dataset = psd_alloc_zero(1, sizeof *dataset);

    if (!dataset)
        return PSD_ENOMEM;
    dataset->file = file;
    dataset->at = at;
    dataset->name = psd_alloc_text("%s", name);
    psd_status status = dataset->name ? read_dataset(dataset) : PSD_ENOMEM;
    if (status == PSD_OK)
        *out = dataset;
    else
        psd_hdf5_dataset_close(dataset);
    return status;
}

void psd_hdf5_dataset_close(struct psd_hdf5_dataset *dataset)
{
    if (!dataset)
        return;
    psd_hdf5_chunks_fini(&dataset->chunks);
    psd_alloc_free(dataset->bytes);
    psd_alloc_free(dataset->spare);
    psd_alloc_free(dataset->name);
    psd_alloc_free(dataset);
}

/* --- looking ------------------------------------------------------------------------------------ */

const struct psd_hdf5_space *psd_hdf5_dataset_space(const struct psd_hdf5_dataset *dataset)
{
    return &dataset->space;
}

uint64_t psd_hdf5_dataset_rows(const struct psd_hdf5_dataset *dataset)
{
    return dataset->space.axes ? dataset->space.dim[0] : 1;
}

uint64_t psd_hdf5_dataset_row(const struct psd_hdf5_dataset *dataset)
{
    uint64_t rows = psd_hdf5_dataset_rows(dataset);

    return rows ? dataset->space.count / rows : 0;
}

uint64_t psd_hdf5_dataset_band(const struct psd_hdf5_dataset *dataset)
{
    return dataset->layout.kind == PSD_HDF5_CHUNKED ? dataset->layout.chunk[0] : 1;
}

/* --- values in one piece ------------------------------------------------------------------------ */

/* Reads `count` floats from value `first` on. */
static psd_status read_plain(const struct psd_hdf5_dataset *dataset, uint64_t first, uint64_t count,
                             float *out)
{
    size_t width = dataset->type.size;
    uint64_t at = dataset->layout.at + first * width;
    unsigned char piece[PIECE];

    if (psd_hdf5_type_is_plain(&dataset->type))
        return psd_hdf5_file_read(dataset->file, at, out, (size_t)count * sizeof *out);
    while (count) {
        size_t part = count < PIECE / width ? (size_t)count : PIECE / width;
        PSD_TRY(psd_hdf5_file_read(dataset->file, at, piece, part * width));
        psd_hdf5_type_convert(&dataset->type, piece, part, out);
        out += part;
        at += part * width;
        count -= part;
    }
    return PSD_OK;
}

static void fill(const struct psd_hdf5_dataset *dataset, uint64_t count, float *out)
{
    float value;

    psd_hdf5_type_convert(&dataset->type, dataset->fill, 1, &value);
    for (uint64_t i = 0; i < count; i++)
        out[i] = value;
}

psd_status psd_hdf5_dataset_read(struct psd_hdf5_dataset *dataset, uint64_t first, uint64_t count,
                                 float *out)
{
    uint64_t rows = psd_hdf5_dataset_rows(dataset), row = psd_hdf5_dataset_row(dataset);

    if (dataset->type.class == PSD_HDF5_TEXT)
        return psd_fail(PSD_ENOSUP, "%s: \"%s\" has texts and no numbers", dataset->file->path,
                        dataset->name);
    if (first > rows || count > rows - first)
        return psd_fail(PSD_EINVAL, "%s: \"%s\" has not so many rows", dataset->file->path,
                        dataset->name);
    if (dataset->layout.kind == PSD_HDF5_CHUNKED)
        return psd_hdf5_dataset_gather(dataset, first, count, out);
    if (dataset->layout.at != PSD_HDF5_NOWHERE)
        return read_plain(dataset, first * row, count * row, out);
    fill(dataset, count * row, out);
    return PSD_OK;
}

static psd_status check_only(const struct psd_hdf5_dataset *dataset, enum psd_hdf5_class class)
{
    if (dataset->type.class == class && dataset->space.count == 1 &&
        dataset->layout.kind != PSD_HDF5_CHUNKED && dataset->layout.at != PSD_HDF5_NOWHERE)
        return PSD_OK;
    return psd_fail(PSD_ECONFIG, "%s: \"%s\" is not one %s", dataset->file->path, dataset->name,
                    class == PSD_HDF5_TEXT ? "text" : "integer");
}

psd_status psd_hdf5_dataset_integer(struct psd_hdf5_dataset *dataset, int64_t *out)
{
    unsigned char bytes[8];

    PSD_TRY(check_only(dataset, PSD_HDF5_INTEGER));
    PSD_TRY(psd_hdf5_file_read(dataset->file, dataset->layout.at, bytes, dataset->type.size));
    *out = psd_hdf5_type_integer(&dataset->type, bytes);
    return PSD_OK;
}

psd_status psd_hdf5_dataset_text(struct psd_hdf5_dataset *dataset, char **out)
{
    unsigned char *bytes = NULL;
    size_t size = dataset->type.size;

    PSD_TRY(check_only(dataset, PSD_HDF5_TEXT));
    PSD_TRY(psd_hdf5_file_load(dataset->file, dataset->layout.at, size, &bytes));
    char *text = psd_alloc_text("%.*s", (int)strnlen((char *)bytes, size), (char *)bytes);
    psd_alloc_free(bytes);
    *out = text;
    return text ? PSD_OK : PSD_ENOMEM;
}
