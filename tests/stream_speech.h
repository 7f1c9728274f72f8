/* stream_speech.h - speeches to a reader: right frames, and others among them.
 *
 * A speech is made of orders, a byte each with what it needs behind it:
 *
 *     0  n  bytes...     n bytes as they are
 *     1  n               a right frame with n bytes of payload
 *     2  n  at  xor      the same with one byte changed after it was sealed
 *     3  n  at  xor      the same with one byte of its head changed before: a member that lies
 *     4                  a right beat
 *
 * The reader arrives at right frames only, as long as all before them were right, refuses one frame at
 * most, says the right reason, and then is over. In TLS nobody but members can speak at all: what 2 changes
 * in a head is a lie, too, and a payload is whatever they send. */
#ifndef PSD_TESTS_STREAM_SPEECH_H
#define PSD_TESTS_STREAM_SPEECH_H

#include "stream_bytes.h"

struct speech {
    unsigned char bytes[1 << 14];
    size_t count;
    unsigned right; /* frames with data before the first that is not right */
    bool is_right;
    bool is_vague; /* the first that is not right may be a right one of another kind or length */
    enum psd_reader_refusal why; /* of the first that is not right, if it must be refused */
};

static inline unsigned char speech_next(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    (*size)--;
    return *(*data)++;
}

static inline void speech_add_bytes(struct speech *speech, const uint8_t **data, size_t *size)
{
    size_t count = speech_next(data, size);

    count = count < *size ? count : *size;
    memcpy(speech->bytes + speech->count, *data, count);
    speech->count += count;
    *data += count;
    *size -= count;
    speech->is_right &= count == 0;
}

/* Why a frame is refused of which one byte is wrong. */
static inline enum psd_reader_refusal speech_reason(size_t where, bool is_lie)
{
    if (!is_lie || where < 4 || where >= 24)
        return PSD_READER_GARBLED;
    if (where < 8)
        return PSD_READER_OLD;
    return where < 16 ? PSD_READER_FOREIGN : PSD_READER_REPLAYED;
}

/* Changes a byte of the frame's `count` at the end of the speech. */
static inline void speech_spoil(struct speech *speech, struct mouth *mouth, size_t where,
                                unsigned char change, bool is_lie)
{
    unsigned char *frame = speech->bytes + speech->count;
    bool is_free = is_lie && where >= 32 && where < PSD_WIRE_SEALED; /* the user's header */
    bool is_payload = !mouth->seals[0] && where >= PSD_WIRE_HEAD;
    bool is_wrong = change != 0 && !is_free && !is_payload;
    bool is_form = is_lie && (where == 1 || (where >= 24 && where < 32)); /* kind, length */

    frame[where] ^= change;
    if (is_lie && where < PSD_WIRE_SEALED)
        seal_frame(mouth, frame);
    if (speech->is_right && is_wrong) {
        speech->is_vague = is_form;
        speech->why = is_form ? PSD_READER_FINE : speech_reason(where, is_lie);
    }
    speech->is_right &= !is_wrong;
}

static inline void speech_add_frame(struct speech *speech, struct mouth *mouth, unsigned order,
                                    const uint8_t **data, size_t *size)
{
    static const unsigned char zeros[256];
    size_t length = order == 4 ? 0 : speech_next(data, size);
    struct psd_wire_head head = {.kind = order == 4 ? PSD_WIRE_BEAT : PSD_WIRE_DATA,
                                 .length = length};
    size_t count = make_frame(mouth, head, zeros, speech->bytes + speech->count);

    if (order == 2 || order == 3) {
        size_t where = speech_next(data, size) % (order == 2 ? count : PSD_WIRE_SEALED);
        bool is_lie = order == 3 || !mouth->seals[0];
        speech_spoil(speech, mouth, where, speech_next(data, size), is_lie);
    }
    speech->count += count;
    speech->right += speech->is_right && order != 4;
}

static inline void speech_prepare(struct speech *speech, struct mouth *mouth, const uint8_t *data,
                                  size_t size)
{
    speech->right = 0;
    speech->is_right = true;
    speech->is_vague = false;
    speech->why = PSD_READER_FINE;
    speech->count =
        make_frame(mouth, (struct psd_wire_head){.kind = PSD_WIRE_OPEN}, NULL, speech->bytes);
    while (size > 0 && speech->count < sizeof speech->bytes - 512) {
        unsigned order = speech_next(&data, &size) % 5;
        if (order == 0)
            speech_add_bytes(speech, &data, &size);
        else
            speech_add_frame(speech, mouth, order, &data, &size);
    }
}

/* Listens to the end; says how many frames have arrived. */
static inline unsigned speech_hear(struct mouth *mouth)
{
    struct psd_reader *reader = &mouth->reader;
    enum psd_reader_news news = PSD_READER_NOTHING;
    unsigned arrived = 0;
    psd_status status = PSD_OK;

    psd_reader_turn(reader, SIZE_MAX);
    do {
        status = psd_reader_step(reader, &news);
        if (status == PSD_OK && news == PSD_READER_HEAD)
            status = reader->head.length > MOUTH_MOST ? PSD_EPEER : give_place(mouth, false);
        arrived += status == PSD_OK && news == PSD_READER_ARRIVED;
    } while (status == PSD_OK && news != PSD_READER_NOTHING && news != PSD_READER_BYE);
    if (reader->refusal != PSD_READER_FINE)
        CHECK(status == PSD_EPEER && psd_reader_step(reader, &news) == PSD_EPEER);
    return arrived;
}

/* Takes away what the reader did not want to hear. */
static inline void speech_forget(struct mouth *mouth)
{
    unsigned char rest[4096];
    struct iovec to = {rest, sizeof rest};
    size_t count = 0;

    do
        CHECK_OK(psd_channel_read(mouth->pair.channels[1], &to, 1, &count));
    while (count > 0);
}

/* Holds the speech of these orders to a new reader, and checks what it makes of it. */
static inline void speech_give(struct mouth *mouth, const uint8_t *data, size_t size)
{
    static struct speech speech;

    psd_reader_fini(&mouth->reader);
    start_reader(mouth);
    speech_prepare(&speech, mouth, data, size);
    say_bytes(mouth, speech.bytes, speech.count);
    unsigned arrived = speech_hear(mouth);
    CHECK(arrived >= speech.right && (speech.is_vague || arrived == speech.right));
    CHECK(!speech.is_right || mouth->reader.refusal == PSD_READER_FINE);
    CHECK(speech.why == PSD_READER_FINE || mouth->reader.refusal == speech.why);
    speech_forget(mouth);
}

#endif
