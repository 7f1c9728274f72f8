/* stream_bytes.h - a reader, and whoever writes to it by hand.
 *
 *     struct mouth mouth;
 *     open_mouth(&mouth);                          in clear; or open_mouth_in_tls
 *     say(&mouth, (struct psd_wire_head){.kind = PSD_WIRE_OPEN}, NULL);
 *     CHECK(hear_news(&mouth) == PSD_READER_OPENED);
 *     shut_mouth(&mouth);
 *
 * What a head leaves zero becomes right. */
#ifndef PSD_TESTS_STREAM_BYTES_H
#define PSD_TESTS_STREAM_BYTES_H

#include "base/crc32c.h"
#include "net/tcp/reader.h"
#include "stream_pair.h"

enum { MOUTH_EPOCH = 3, MOUTH_NUMBER = 2, MOUTH_MOST = 8192, MOUTH_BUDGET = 1 << 20 };

struct mouth {
    struct channel_pair pair;
    struct psd_seal *seals[2]; /* the writer's, the reader's; NULL in TLS */
    struct psd_reader reader;
    uint64_t sequence; /* of the next frame */
    unsigned char memory[2 * MOUTH_MOST];
};

static inline struct psd_seal *seal_of(struct psd_channel *channel, bool is_sending)
{
    unsigned char keys[2][PSD_CHANNEL_KEY];
    struct psd_seal *seal = NULL;

    CHECK_OK(psd_channel_keys(channel, keys[1], keys[0]));
    CHECK_OK(psd_seal_create(keys[is_sending], &seal));
    return seal;
}

static inline void start_reader(struct mouth *mouth)
{
    struct psd_wire_terms terms = {PAIR_JOB, MOUTH_EPOCH, MOUTH_NUMBER};

    CHECK_OK(psd_reader_init(&mouth->reader, mouth->pair.channels[1], mouth->seals[1], &terms));
    psd_reader_turn(&mouth->reader, MOUTH_BUDGET);
    mouth->sequence = 0;
}

static inline void open_mouth(struct mouth *mouth)
{
    memset(mouth, 0, sizeof *mouth);
    connect_directly(&mouth->pair, true);
    for (int i = 0; i < 2; i++)
        mouth->seals[i] = seal_of(mouth->pair.channels[i], i == 0);
    start_reader(mouth);
}

static inline void open_mouth_in_tls(struct mouth *mouth)
{
    memset(mouth, 0, sizeof *mouth);
    connect_directly(&mouth->pair, false);
    start_reader(mouth);
}

static inline void shut_mouth(struct mouth *mouth)
{
    psd_reader_fini(&mouth->reader);
    psd_seal_destroy(mouth->seals[0]);
    psd_seal_destroy(mouth->seals[1]);
    forget_channels(&mouth->pair);
}

/* Puts the seal into a head; in TLS it has none. */
static inline void seal_frame(struct mouth *mouth, unsigned char *head)
{
    memset(head + PSD_WIRE_SEALED, 0, PSD_WIRE_SEAL);
    if (mouth->seals[0])
        psd_seal_put(mouth->seals[0], head);
}

/* The bytes of a frame: those of the head that are zero as they should be, the payload and in clear its
 * CRC. Returns how many. */
static inline size_t make_frame(struct mouth *mouth, struct psd_wire_head head,
                                const unsigned char *payload, unsigned char *out)
{
    size_t bytes = payload ? (size_t)head.length : 0;

    head.kind = head.kind ? head.kind : PSD_WIRE_DATA;
    head.job = head.job ? head.job : PAIR_JOB;
    head.epoch = head.epoch ? head.epoch : MOUTH_EPOCH;
    head.stream = head.stream ? head.stream : MOUTH_NUMBER;
    head.sequence = head.sequence ? head.sequence : mouth->sequence;
    mouth->sequence = head.sequence + 1;
    psd_wire_encode(&head, out);
    seal_frame(mouth, out);
    if (bytes == 0)
        return PSD_WIRE_HEAD;
    memcpy(out + PSD_WIRE_HEAD, payload, bytes);
    if (!mouth->seals[0])
        return PSD_WIRE_HEAD + bytes;
    uint32_t crc = psd_crc32c(0, payload, bytes);
    for (size_t i = 0; i < PSD_WIRE_CRC; i++)
        out[PSD_WIRE_HEAD + bytes + i] = (unsigned char)(crc >> 8 * i);
    return PSD_WIRE_HEAD + bytes + PSD_WIRE_CRC;
}

static inline void say_bytes(struct mouth *mouth, const unsigned char *bytes, size_t count)
{
    struct channel_pair *pair = &mouth->pair;
    size_t said = 0;

    while (said < count) {
        struct iovec from = {(void *)(uintptr_t)(bytes + said), count - said};
        size_t some = 0;
        CHECK_OK(psd_channel_write(pair->channels[0], &from, 1, &some));
        CHECK(some > 0);
        said += some;
    }
}

static inline void say(struct mouth *mouth, struct psd_wire_head head, const unsigned char *payload)
{
    unsigned char bytes[PSD_WIRE_HEAD + MOUTH_MOST + PSD_WIRE_CRC];

    say_bytes(mouth, bytes, make_frame(mouth, head, payload, bytes));
}

/* One step, after which nothing is too much. */
static inline enum psd_reader_news hear_news(struct mouth *mouth)
{
    enum psd_reader_news news = PSD_READER_NOTHING;

    psd_reader_turn(&mouth->reader, MOUTH_BUDGET);
    CHECK_OK(psd_reader_step(&mouth->reader, &news));
    return news;
}

/* Gives the payload that was asked for a place in the mouth's memory. */
static inline psd_status give_place(struct mouth *mouth, bool add)
{
    struct psd_place place = {.add = add};

    place.spans[0].data = mouth->memory;
    place.spans[0].bytes = (size_t)mouth->reader.head.length;
    return psd_reader_place(&mouth->reader, &place);
}

#endif
