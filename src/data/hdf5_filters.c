/* hdf5_filters.c - gzip, shuffle, fletcher32.
 *
 *     message   version 0  count 1  [1: 6 bytes]  filters
 *     filter    id 0 (2)  [length of its name (2)]  flags (2)  numbers (2)  [name]  numbers of 4 bytes
 *               version 2 leaves out the name of ids below 256; version 1 fills up to 8 bytes */
#include "data/hdf5_filters.h"
#include "base/little.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    DEFLATE = 1,
    SHUFFLE = 2,
    FLETCHER = 3,
    CHECKSUM = 4,
    MOST_TIMES = 1032 /* deflate's limit */
};

/* --- the message -------------------------------------------------------------------------------- */

static psd_status check_id(const struct psd_hdf5_file *file, uint64_t at, unsigned id)
{
    char sentence[120];

    if (id == DEFLATE || id == SHUFFLE || id == FLETCHER)
        return PSD_OK;
    snprintf(sentence, sizeof sentence,
             "filter %u%s is not undone here; gzip, shuffle and fletcher32 are", id,
             id == 32000 ? " (lzf)"
             : id == 4   ? " (szip)"
                         : "");
    return psd_hdf5_file_unknown(file, at, sentence);
}

/* Reads the filter at *at and moves on behind it; false: it is too short. */
static bool read_one(const struct psd_hdf5_message *message, bool newer, size_t *at, unsigned *id)
{
    const unsigned char *bytes = message->bytes + *at;
    size_t left = message->size - *at;

    if (left < 8)
        return false;
    *id = (unsigned)psd_little_get(bytes, 2);
    bool named = !newer || *id >= 256;
    size_t name = named ? (size_t)psd_little_get(bytes + 2, 2) : 0;
    size_t numbers = (size_t)psd_little_get(bytes + (named ? 6 : 4), 2);
    size_t size = (named ? 8 : 6) + (newer ? name : (name + 7) / 8 * 8) + 4 * numbers +
                  (!newer && numbers % 2 ? 4 : 0);
    if (size > left)
        return false;
    *at += size;
    return true;
}

psd_status psd_hdf5_filters_read(const struct psd_hdf5_file *file,
                                 const struct psd_hdf5_message *message,
                                 struct psd_hdf5_filters *out)
{
    struct psd_hdf5_filters filters = {0};
    unsigned version = message->size > 1 ? message->bytes[0] : 0;
    size_t at = version == 1 ? 8 : 2;

    if (message->shared || version < 1 || version > 2)
        return psd_hdf5_file_unknown(file, message->at, "filters of this form are not read");
    filters.count = message->bytes[1];
    if (filters.count > PSD_HDF5_FILTERS_MOST)
        return psd_hdf5_file_unknown(file, message->at, "more than 8 filters are not undone");
    for (size_t i = 0; i < filters.count; i++) {
        if (at > message->size || !read_one(message, version == 2, &at, &filters.id[i]))
            return psd_hdf5_file_damaged(file, message->at, "a list of filters is too short");
        PSD_TRY(check_id(file, message->at, filters.id[i]));
    }
    *out = filters;
    return PSD_OK;
}

/* --- undoing ------------------------------------------------------------------------------------ */

bool psd_hdf5_filters_can(const struct psd_hdf5_filters *filters, uint64_t stored, uint64_t size)
{
    uint64_t most = stored;

    for (size_t i = 0; i < filters->count; i++)
        most = filters->id[i] == DEFLATE && most >> 50 == 0 ? (most + 64) * MOST_TIMES : most;
    return size <= most;
}

/* Where the bytes are now, and the other room. */
struct bytes {
    unsigned char *at, *spare;
    size_t size, room;
};

static void swap(struct bytes *bytes, size_t size)
{
    unsigned char *was = bytes->at;

    bytes->at = bytes->spare;
    bytes->spare = was;
    bytes->size = size;
}

static const char *undo_deflate(struct bytes *bytes)
{
    uLongf size = bytes->room;

    if (uncompress(bytes->spare, &size, bytes->at, bytes->size) != Z_OK)
        return "a chunk cannot be unpacked";
    swap(bytes, size);
    return NULL;
}

/* All first bytes of the values, then all second ones; what does not fill a value stays behind. */
static void undo_shuffle(struct bytes *bytes, size_t width)
{
    size_t count = bytes->size / width;

    for (size_t k = 0; k < width; k++) {
        for (size_t i = 0; i < count; i++)
            bytes->spare[i * width + k] = bytes->at[k * count + i];
    }
    memcpy(bytes->spare + count * width, bytes->at + count * width, bytes->size - count * width);
    swap(bytes, bytes->size);
}

/* Two sums modulo 65535 over words of two bytes, the first byte the higher. */
static uint32_t fletcher(const unsigned char *at, size_t size)
{
    uint32_t first = 0, second = 0;

    for (size_t i = 0; i < size; i += 2) {
        uint32_t word = (uint32_t)at[i] << 8 | (i + 1 < size ? at[i + 1] : 0u);
        first = (first + word) % 65535;
        second = (second + first) % 65535;
    }
    return second << 16 | first;
}

/* A sum of 65535 is 0 to some writers, so both are reduced. */
static const char *check_fletcher(struct bytes *bytes)
{
    if (bytes->size < CHECKSUM)
        return "a chunk is too short";
    bytes->size -= CHECKSUM;
    uint32_t stored = (uint32_t)psd_little_get(bytes->at + bytes->size, CHECKSUM);
    uint32_t reduced = (stored >> 16) % 65535 << 16 | (stored & 0xffff) % 65535;
    return reduced == fletcher(bytes->at, bytes->size) ? NULL
                                                       : "the checksum of a chunk is another";
}

static const char *undo_one(unsigned id, size_t width, struct bytes *bytes)
{
    if (id == DEFLATE)
        return undo_deflate(bytes);
    if (id == FLETCHER)
        return check_fletcher(bytes);
    undo_shuffle(bytes, width);
    return NULL;
}

/* NOLINTBEGIN(readability-non-const-parameter): both are written to, through `now` */
psd_status psd_hdf5_filters_undo(const struct psd_hdf5_filters *filters,
                                 const struct psd_hdf5_file *file, uint64_t at, unsigned skipped,
                                 unsigned char *bytes, unsigned char *spare, size_t room,
                                 size_t stored, size_t size, const unsigned char **out)
/* NOLINTEND(readability-non-const-parameter) */
{
    struct bytes now = {bytes, spare, stored, room};

    for (size_t i = filters->count; i-- > 0;) {
        const char *reason =
            skipped >> i & 1 ? NULL : undo_one(filters->id[i], filters->width, &now);
        if (reason)
            return psd_hdf5_file_damaged(file, at, reason);
    }
    if (now.size != size)
        return psd_hdf5_file_damaged(file, at, "a chunk has another size than its dataset says");
    *out = now.at;
    return PSD_OK;
}
