/* hdf5_chunks.c - four kinds of index become one list.
 *
 *     tree's key     size 0 (4)  filters left out 4 (4)  offset of each axis 8 ...
 *     fixed array    "FAHD"  version 4  filtered 5  entry's size 6  page bits 7  count 8  block 16
 *     its block      "FADB"  version 4  filtered 5  header 6  [a bit for each page]  entries
 *                    more than a page of entries: each page is followed by a checksum of 4 bytes
 *     entry          address, or address 0  size 8 (1 to 8)  filters left out (4) */
#include "data/hdf5_chunks.h"
#include "base/alloc.h"
#include "base/little.h"
#include "data/hdf5_btree.h"

#include <stdlib.h>
#include <string.h>

/* The largest box; libhdf5's own limit is 4 GiB. */
#define LARGEST (UINT64_C(256) << 20)

struct finding {
    const struct psd_hdf5_file *file;
    const struct psd_hdf5_layout *layout;
    const struct psd_hdf5_space *space;
    struct psd_hdf5_chunks *chunks;
    uint64_t largest[PSD_HDF5_AXES]; /* the grid of the shape that it may grow to */
    uint64_t all;                    /* chunks in it; UINT64_MAX: without end */
};

static psd_status damaged(const struct finding *finding, const char *reason)
{
    return psd_hdf5_file_damaged(finding->file, finding->layout->at, reason);
}

static psd_status add(struct finding *finding, const struct psd_hdf5_chunk *chunk)
{
    struct psd_hdf5_chunks *chunks = finding->chunks;
    struct psd_hdf5_chunk *all = psd_alloc_grow(chunks->all, chunks->count, sizeof *all);

    if (!all)
        return PSD_ENOMEM;
    chunks->all = all;
    all[chunks->count++] = *chunk;
    return PSD_OK;
}

/* Its number in our grid by its number in the largest one; false: it is not in ours. */
static bool renumber(const struct finding *finding, uint64_t number, uint64_t *out)
{
    const struct psd_hdf5_chunks *chunks = finding->chunks;
    uint64_t place = 0, step = 1;

    for (size_t i = finding->space->axes; i-- > 0; number /= finding->largest[i]) {
        uint64_t at = number % finding->largest[i];
        if (at >= chunks->grid[i])
            return false;
        place += at * step;
        step *= chunks->grid[i];
    }
    *out = place;
    return true;
}

/* --- kinds of index ----------------------------------------------------------------------------- */

static psd_status take_key(void *context, const unsigned char *key, uint64_t child)
{
    struct finding *finding = context;
    struct psd_hdf5_chunk chunk = {0, child, (uint32_t)psd_little_get(key, 4),
                                   (uint32_t)psd_little_get(key + 4, 4)};

    for (size_t i = 0; i < finding->space->axes; i++) {
        uint64_t offset = psd_little_get(key + 8 + 8 * i, 8), box = finding->layout->chunk[i];
        if (offset % box)
            return damaged(finding, "a chunk has its place between others");
        if (offset / box >= finding->chunks->grid[i])
            return PSD_OK; /* of a time when the dataset was larger */
        chunk.number = chunk.number * finding->chunks->grid[i] + offset / box;
    }
    return add(finding, &chunk);
}

static psd_status find_single(struct finding *finding)
{
    const struct psd_hdf5_layout *layout = finding->layout;
    uint64_t size = layout->is_filtered ? layout->size : finding->chunks->bytes;

    if (finding->all != 1 || size > UINT32_MAX)
        return damaged(finding, "a single chunk is not the only one");
    return add(finding, &(struct psd_hdf5_chunk){0, layout->at, (uint32_t)size, layout->skipped});
}

static psd_status find_implicit(struct finding *finding)
{
    uint64_t bytes = finding->chunks->bytes, at = finding->layout->at;

    if (finding->all > finding->file->size / bytes)
        return damaged(finding, "there are more chunks than the file has room for");
    for (uint64_t i = 0; i < finding->all; i++) {
        struct psd_hdf5_chunk chunk = {0, at + i * bytes, (uint32_t)bytes, 0};
        if (renumber(finding, i, &chunk.number))
            PSD_TRY(add(finding, &chunk));
    }
    return PSD_OK;
}

static psd_status take_entry(struct finding *finding, const unsigned char *entry, size_t size,
                             bool filtered, uint64_t number)
{
    uint64_t stored = filtered ? psd_little_get(entry + 8, size - 12) : finding->chunks->bytes;
    struct psd_hdf5_chunk chunk = {.at = psd_little_get(entry, 8), .size = (uint32_t)stored};

    if (chunk.at == PSD_HDF5_NOWHERE || !renumber(finding, number, &chunk.number))
        return PSD_OK;
    if (stored > UINT32_MAX)
        return damaged(finding, "a chunk is larger than 4 GiB");
    chunk.skipped = filtered ? (uint32_t)psd_little_get(entry + size - 4, 4) : 0;
    return add(finding, &chunk);
}

/* A fixed array's header, as far as we need it. */
struct array {
    bool filtered;
    size_t entry;
    unsigned bits; /* a page has 2^bits entries */
    uint64_t count, block;
};

static psd_status read_array(struct finding *finding, struct array *out)
{
    unsigned char head[24];

    PSD_TRY(psd_hdf5_file_read(finding->file, finding->layout->at, head, sizeof head));
    *out = (struct array){head[5] == 1, head[6], head[7] & 31u, psd_little_get(head + 8, 8),
                          psd_little_get(head + 16, 8)};
    bool fits = out->filtered ? out->entry > 12 && out->entry <= 20 : out->entry == 8;
    if (memcmp(head, "FAHD", 4) != 0 || head[5] > 1 || head[7] > 31 || !fits)
        return damaged(finding, "here should be an array of chunks");
    if (out->count != finding->all || out->count > finding->file->size / out->entry)
        return damaged(finding, "an array of chunks has another length than its dataset");
    return PSD_OK;
}

static psd_status read_page(struct finding *finding, const struct array *array, uint64_t at,
                            uint64_t first, uint64_t count)
{
    unsigned char *entries = NULL;

    PSD_TRY(psd_hdf5_file_load(finding->file, at, count * array->entry, &entries));
    psd_status status = PSD_OK;
    for (uint64_t i = 0; status == PSD_OK && i < count; i++)
        status = take_entry(finding, entries + i * array->entry, array->entry, array->filtered,
                            first + i);
    psd_alloc_free(entries);
    return status;
}

/* Pages that were never written have a 0 among the bits. */
static psd_status read_pages(struct finding *finding, const struct array *array,
                             const unsigned char *bits, uint64_t at)
{
    uint64_t page = UINT64_C(1) << array->bits;

    for (uint64_t i = 0, first = 0; first < array->count; i++, first += page) {
        uint64_t left = array->count - first;
        if (bits[i / 8] >> (7 - i % 8) & 1)
            PSD_TRY(read_page(finding, array, at, first, left < page ? left : page));
        at += page * array->entry + 4;
    }
    return PSD_OK;
}

static psd_status find_fixed(struct finding *finding)
{
    struct array array;
    unsigned char head[14], *bits = NULL;

    PSD_TRY(read_array(finding, &array));
    if (array.block == PSD_HDF5_NOWHERE)
        return PSD_OK;
    PSD_TRY(psd_hdf5_file_read(finding->file, array.block, head, sizeof head));
    if (memcmp(head, "FADB", 4) != 0)
        return damaged(finding, "here should be a block of chunks' addresses");
    uint64_t at = array.block + sizeof head;
    if (array.count >> array.bits == 0 || array.count == UINT64_C(1) << array.bits)
        return read_page(finding, &array, at, 0, array.count);
    uint64_t size = ((array.count - 1) >> array.bits) / 8 + 1;
    PSD_TRY(psd_hdf5_file_load(finding->file, at, size, &bits));
    psd_status status = read_pages(finding, &array, bits, at + size + 4);
    psd_alloc_free(bits);
    return status;
}

/* --- all of it ---------------------------------------------------------------------------------- */

static psd_status make_grids(struct finding *finding, size_t width)
{
    const struct psd_hdf5_space *space = finding->space;
    const uint64_t *box = finding->layout->chunk;

    finding->all = 1;
    finding->chunks->bytes = width;
    for (size_t i = 0; i < space->axes; i++) {
        finding->chunks->grid[i] = space->dim[i] / box[i] + (space->dim[i] % box[i] != 0);
        finding->largest[i] = space->most[i] / box[i] + (space->most[i] % box[i] != 0);
        if (__builtin_mul_overflow(finding->chunks->bytes, box[i], &finding->chunks->bytes) ||
            finding->chunks->bytes > LARGEST)
            return damaged(finding, "chunks are larger than 256 MiB");
        if (__builtin_mul_overflow(finding->all, finding->largest[i], &finding->all))
            finding->all = UINT64_MAX;
    }
    return PSD_OK;
}

static psd_status find_all(struct finding *finding)
{
    switch (finding->layout->index) {
    case PSD_HDF5_INDEX_SINGLE:
        return find_single(finding);
    case PSD_HDF5_INDEX_IMPLICIT:
        return find_implicit(finding);
    case PSD_HDF5_INDEX_FIXED:
        return find_fixed(finding);
    default:
        return psd_hdf5_btree_walk(finding->file, finding->layout->at, PSD_HDF5_BTREE_CHUNKS,
                                   8 + 8 * (finding->space->axes + 1), take_key, finding);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const struct psd_hdf5_chunk *)a)->number;
    uint64_t y = ((const struct psd_hdf5_chunk *)b)->number;

    return (x > y) - (x < y);
}

static psd_status check_all(const struct finding *finding, bool filtered)
{
    const struct psd_hdf5_chunks *chunks = finding->chunks;

    for (size_t i = 0; i < chunks->count; i++) {
        const struct psd_hdf5_chunk *chunk = &chunks->all[i];
        if (i && chunk->number == chunk[-1].number)
            return damaged(finding, "two chunks have the same place");
        if (!filtered && chunk->size != chunks->bytes)
            return damaged(finding, "a chunk has another size than its dataset says");
        if (chunk->at > finding->file->size || chunk->size > finding->file->size - chunk->at)
            return psd_hdf5_file_damaged(finding->file, chunk->at,
                                         "a chunk is not whole in the file");
    }
    return PSD_OK;
}

psd_status psd_hdf5_chunks_find(const struct psd_hdf5_file *file,
                                const struct psd_hdf5_layout *layout,
                                const struct psd_hdf5_space *space, size_t width, bool filtered,
                                struct psd_hdf5_chunks *out)
{
    struct psd_hdf5_chunks chunks = {0};
    struct finding finding = {.file = file, .layout = layout, .space = space, .chunks = &chunks};

    PSD_TRY(make_grids(&finding, width));
    psd_status status =
        layout->at == PSD_HDF5_NOWHERE || !space->count ? PSD_OK : find_all(&finding);
    if (chunks.count)
        qsort(chunks.all, chunks.count, sizeof *chunks.all, compare);
    if (status == PSD_OK)
        status = check_all(&finding, filtered);
    if (status == PSD_OK)
        *out = chunks;
    else
        psd_hdf5_chunks_fini(&chunks);
    return status;
}

void psd_hdf5_chunks_fini(struct psd_hdf5_chunks *chunks)
{
    psd_alloc_free(chunks->all);
    chunks->all = NULL;
}

const struct psd_hdf5_chunk *psd_hdf5_chunks_at(const struct psd_hdf5_chunks *chunks,
                                                uint64_t number)
{
    struct psd_hdf5_chunk wanted = {.number = number};

    if (!chunks->count)
        return NULL;
    return bsearch(&wanted, chunks->all, chunks->count, sizeof wanted, compare);
}
