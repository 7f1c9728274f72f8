/* hdf5_header.c - blocks of messages, one after the other, none twice.
 *
 *     version 1   version 0  count 2 (2 bytes)  references 4  length 8 (4 bytes)  messages 16
 *                 a message: type 0 (2)  size 2 (2)  flags 4  bytes 8
 *     version 2   "OHDR"  version 4  flags 5  [times 16]  [limits 4]  length (1, 2, 4 or 8)  messages
 *                 a message: type 0  size 1 (2)  flags 3  [order 2]  bytes; a checksum of 4 at the end */
#include "data/hdf5_header.h"
#include "base/alloc.h"
#include "base/little.h"

#include <string.h>

enum {
    MOST_BLOCKS = 64,
    LARGEST_BLOCK = 16 << 20, /* bytes; libhdf5 keeps headers below 64 KiB a message */
    SHARED = 2,               /* a bit of a message's flags */
    HAS_ORDER = 4,            /* bits of the flags of a header of version 2 */
    HAS_LIMITS = 16,
    HAS_TIMES = 32,
};

struct block {
    uint64_t at, size;
};

/* One header on its way. */
struct reading {
    const struct psd_hdf5_file *file;
    psd_hdf5_message_function *take;
    void *context;
    bool newer;    /* version 2 */
    size_t prefix; /* bytes before a message's own */
    struct block blocks[MOST_BLOCKS];
    size_t known; /* blocks that were named so far */
};

/* --- blocks ------------------------------------------------------------------------------------- */

static psd_status add_block(struct reading *reading, uint64_t from, uint64_t at, uint64_t size)
{
    if (reading->known == MOST_BLOCKS)
        return psd_hdf5_file_damaged(reading->file, from, "an object header has too many parts");
    if (size > LARGEST_BLOCK)
        return psd_hdf5_file_damaged(reading->file, from,
                                     "a part of an object header is larger than 16 MiB");
    for (size_t i = 0; i < reading->known; i++) {
        if (reading->blocks[i].at == at)
            return psd_hdf5_file_damaged(reading->file, from,
                                         "an object header continues in itself");
    }
    reading->blocks[reading->known++] = (struct block){at, size};
    return PSD_OK;
}

/* What follows is elsewhere: address and length. Those of version 2 have a mark and a checksum. */
static psd_status add_continued(struct reading *reading, const struct psd_hdf5_message *message)
{
    if (message->size < 16)
        return psd_hdf5_file_damaged(reading->file, message->at,
                                     "a message that continues a header is too short");
    uint64_t at = psd_little_get(message->bytes, 8), size = psd_little_get(message->bytes + 8, 8);
    if (!reading->newer)
        return add_block(reading, message->at, at, size);
    char mark[4] = "";
    PSD_TRY(psd_hdf5_file_read(reading->file, at, mark, sizeof mark));
    if (memcmp(mark, "OCHK", sizeof mark) != 0 || size < 8)
        return psd_hdf5_file_damaged(reading->file, at, "here should be more of an object header");
    return add_block(reading, message->at, at + 4, size - 8);
}

static psd_status take_message(struct reading *reading, const struct psd_hdf5_message *message)
{
    if (message->type == PSD_HDF5_CONTINUED)
        return add_continued(reading, message);
    return reading->take(reading->context, message);
}

static psd_status read_messages(struct reading *reading, struct block block,
                                const unsigned char *bytes)
{
    size_t size = (size_t)block.size, at = 0;

    while (size - at >= reading->prefix) { /* less is a gap */
        const unsigned char *from = bytes + at;
        struct psd_hdf5_message message = {
            .type = reading->newer ? from[0] : (unsigned)psd_little_get(from, 2),
            .shared = from[reading->newer ? 3 : 4] & SHARED,
            .at = block.at + at + reading->prefix,
            .bytes = from + reading->prefix,
            .size = (size_t)psd_little_get(from + (reading->newer ? 1 : 2), 2),
        };
        at += reading->prefix;
        if (message.size > size - at)
            return psd_hdf5_file_damaged(reading->file, message.at,
                                         "a message is longer than its object header");
        PSD_TRY(take_message(reading, &message));
        at += message.size;
    }
    return PSD_OK;
}

static psd_status read_block(struct reading *reading, struct block block)
{
    unsigned char *bytes = NULL;

    PSD_TRY(psd_hdf5_file_load(reading->file, block.at, block.size, &bytes));
    psd_status status = read_messages(reading, block, bytes);
    psd_alloc_free(bytes);
    return status;
}

/* --- the beginning ------------------------------------------------------------------------------ */

static psd_status begin_older(struct reading *reading, uint64_t at, const unsigned char *head)
{
    if (head[0] != 1)
        return psd_hdf5_file_damaged(reading->file, at, "here should be an object header");
    reading->prefix = 8;
    return add_block(reading, at, at + 16, psd_little_get(head + 8, 4));
}

static psd_status begin_newer(struct reading *reading, uint64_t at, const unsigned char *head)
{
    unsigned char length[8];
    size_t width = (size_t)1 << (head[5] & 3);
    uint64_t place = at + 6 + (head[5] & HAS_TIMES ? 16 : 0) + (head[5] & HAS_LIMITS ? 4 : 0);

    if (head[4] != 2)
        return psd_hdf5_file_unknown(reading->file, at,
                                     "an object header of a version above 2 is not read");
    reading->newer = true;
    reading->prefix = head[5] & HAS_ORDER ? 6 : 4;
    PSD_TRY(psd_hdf5_file_read(reading->file, place, length, width));
    return add_block(reading, at, place + width, psd_little_get(length, width));
}

psd_status psd_hdf5_header_read(const struct psd_hdf5_file *file, uint64_t at,
                                psd_hdf5_message_function *take, void *context)
{
    struct reading reading = {.file = file, .take = take, .context = context};
    unsigned char head[16];

    PSD_TRY(psd_hdf5_file_read(file, at, head, sizeof head));
    if (memcmp(head, "OHDR", 4) == 0)
        PSD_TRY(begin_newer(&reading, at, head));
    else
        PSD_TRY(begin_older(&reading, at, head));
    for (size_t i = 0; i < reading.known; i++)
        PSD_TRY(read_block(&reading, reading.blocks[i]));
    return PSD_OK;
}
