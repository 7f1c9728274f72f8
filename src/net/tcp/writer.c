/* writer.c - a ring of frames under way, and the vector that is made of it. */
#include "net/tcp/writer.h"
#include "base/crc32c.h"
#include "base/little.h"
#include "base/status.h"
#include "net/payload.h"

#include <string.h>

enum { PIECES = 4 * PSD_WRITER_SLOTS }; /* of a frame: head, two spans, CRC */

/* What the next call writes. */
struct vector {
    struct iovec pieces[PIECES];
    int count;
    size_t bytes, most;
};

void psd_writer_init(struct psd_writer *writer, struct psd_channel *channel, struct psd_seal *seal,
                     const struct psd_wire_terms *terms)
{
    *writer = (struct psd_writer){.channel = channel, .seal = seal, .terms = *terms};
}

void psd_writer_put_open(struct psd_writer *writer, const unsigned char header[PSD_FRAME_HEADER])
{
    struct psd_frames behind = writer->waiting;

    memcpy(writer->open.header, header, PSD_FRAME_HEADER);
    writer->waiting.first = NULL;
    psd_frames_put(&writer->waiting, &writer->open);
    psd_frames_append(&writer->waiting, &behind);
}

bool psd_writer_is_idle(const struct psd_writer *writer)
{
    return writer->count == 0 && !writer->waiting.first;
}

void psd_writer_put_beat(struct psd_writer *writer)
{
    if (psd_writer_is_idle(writer))
        psd_frames_put(&writer->waiting, &writer->beat);
}

static enum psd_wire_kind kind_of(const struct psd_writer *writer, const struct psd_frame *frame)
{
    if (frame == &writer->open)
        return PSD_WIRE_OPEN;
    return frame == &writer->beat ? PSD_WIRE_BEAT : PSD_WIRE_DATA;
}

static void make_head(struct psd_writer *writer, struct psd_writer_slot *slot,
                      enum psd_wire_kind kind)
{
    struct psd_wire_head head = {.kind = kind,
                                 .stream = writer->terms.number,
                                 .epoch = writer->terms.epoch,
                                 .job = writer->terms.job,
                                 .sequence = slot->sequence,
                                 .length = slot->payload};

    if (slot->frame)
        memcpy(head.header, slot->frame->header, PSD_FRAME_HEADER);
    psd_wire_encode(&head, slot->head);
    if (writer->seal)
        psd_seal_put(writer->seal, slot->head);
    else
        memset(slot->head + PSD_WIRE_SEALED, 0, PSD_WIRE_SEAL);
}

static struct psd_writer_slot *slot_at(struct psd_writer *writer, size_t index)
{
    return &writer->slots[(writer->first + index) % PSD_WRITER_SLOTS];
}

/* Puts a frame under way. */
static void begin(struct psd_writer *writer, struct psd_frame *frame)
{
    struct psd_writer_slot *slot = slot_at(writer, writer->count++);

    slot->frame = frame;
    slot->sequence = writer->sequence++;
    slot->payload = psd_payload_bytes(frame);
    slot->summed = slot->done = 0;
    slot->crc = 0;
    slot->size = PSD_WIRE_HEAD + slot->payload + (writer->seal && slot->payload ? PSD_WIRE_CRC : 0);
    make_head(writer, slot, kind_of(writer, frame));
}

/* Adds what is not yet done of a piece that stands in its frame from `from` on. */
static void add_piece(struct vector *vector, const void *data, size_t bytes, size_t from,
                      size_t done)
{
    size_t skip = done > from ? done - from : 0;
    size_t room = vector->most - vector->bytes;

    if (skip >= bytes || room == 0)
        return;
    size_t part = bytes - skip < room ? bytes - skip : room;
    union {
        const unsigned char *const_base;
        unsigned char *base; /* which is only read; the system's structure is for both ways */
    } at = {(const unsigned char *)data + skip};
    vector->pieces[vector->count++] = (struct iovec){at.base, part};
    vector->bytes += part;
}

/* Takes the payload up to `until` into the CRC. */
static void sum_up(struct psd_writer_slot *slot, size_t until)
{
    size_t from = 0;

    for (size_t i = 0; i < 2; i++) {
        const struct psd_span *span = &slot->frame->payload[i];
        size_t end = from + span->bytes < until ? from + span->bytes : until;
        if (slot->summed < end) {
            slot->crc =
                psd_crc32c(slot->crc, (const unsigned char *)span->data + (slot->summed - from),
                           end - slot->summed);
            slot->summed = end;
        }
        from += span->bytes;
    }
}

static void add_trailer(struct vector *vector, struct psd_writer_slot *slot)
{
    psd_little_put(slot->trailer, slot->crc, PSD_WIRE_CRC);
    add_piece(vector, slot->trailer, PSD_WIRE_CRC, PSD_WIRE_HEAD + slot->payload, slot->done);
}

static void add_slot(const struct psd_writer *writer, struct vector *vector,
                     struct psd_writer_slot *slot)
{
    const struct psd_span *spans = slot->frame->payload;
    size_t before = vector->bytes;

    add_piece(vector, slot->head, PSD_WIRE_HEAD, 0, slot->done);
    add_piece(vector, spans[0].data, spans[0].bytes, PSD_WIRE_HEAD, slot->done);
    add_piece(vector, spans[1].data, spans[1].bytes, PSD_WIRE_HEAD + spans[0].bytes, slot->done);
    size_t covered = slot->done + (vector->bytes - before);
    if (!writer->seal || slot->payload == 0 || covered < PSD_WIRE_HEAD + slot->payload)
        return;
    sum_up(slot, slot->payload);
    add_trailer(vector, slot);
}

static void fill(struct psd_writer *writer, struct vector *vector)
{
    while (writer->count < PSD_WRITER_SLOTS && writer->waiting.first)
        begin(writer, psd_frames_take(&writer->waiting));
    for (size_t i = 0; i < writer->count && vector->bytes < vector->most; i++)
        add_slot(writer, vector, slot_at(writer, i));
}

/* What has just been taken of a payload that is not yet whole is in the cache now. */
static void sum_up_taken(const struct psd_writer *writer, struct psd_writer_slot *slot)
{
    size_t payload = slot->done > PSD_WIRE_HEAD ? slot->done - PSD_WIRE_HEAD : 0;

    if (writer->seal)
        sum_up(slot, payload < slot->payload ? payload : slot->payload);
}

static void advance(struct psd_writer *writer, size_t count)
{
    writer->total += count;
    while (count > 0) {
        struct psd_writer_slot *slot = slot_at(writer, 0);
        size_t left = slot->size - slot->done, part = count < left ? count : left;
        slot->done += part;
        count -= part;
        if (slot->done < slot->size) {
            sum_up_taken(writer, slot);
            return;
        }
        if (kind_of(writer, slot->frame) == PSD_WIRE_DATA)
            psd_frames_put(&writer->written, slot->frame);
        writer->first = (writer->first + 1) % PSD_WRITER_SLOTS;
        writer->count--;
    }
}

psd_status psd_writer_write(struct psd_writer *writer, size_t budget)
{
    if (writer->terms.number == PSD_WIRE_ANY)
        return PSD_OK;
    while (budget > 0 && !writer->is_blocked && !psd_writer_is_idle(writer)) {
        struct vector vector;
        size_t count = 0;

        vector.count = 0;
        vector.bytes = 0;
        vector.most = writer->seal && budget > PSD_WRITER_PART ? PSD_WRITER_PART : budget;
        fill(writer, &vector);
        PSD_TRY(psd_channel_write(writer->channel, vector.pieces, vector.count, &count));
        advance(writer, count);
        writer->is_blocked = count < vector.bytes;
        budget -= count;
    }
    return PSD_OK;
}

void psd_writer_say_bye(struct psd_writer *writer)
{
    struct psd_writer_slot *slot = slot_at(writer, 0);
    size_t count = 0;

    if (writer->is_blocked || writer->terms.number == PSD_WIRE_ANY ||
        (writer->count > 0 && slot->done > 0))
        return;
    slot->sequence = writer->count > 0 ? slot->sequence : writer->sequence;
    slot->frame = NULL;
    slot->payload = 0;
    make_head(writer, slot, PSD_WIRE_BYE);
    (void)psd_channel_write(writer->channel, &(struct iovec){slot->head, PSD_WIRE_HEAD}, 1, &count);
}
