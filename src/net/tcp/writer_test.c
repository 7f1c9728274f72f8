/* writer_test.c - frames, and the bytes that are made of them. */
#include "base/crc32c.h"
#include "base/little.h"
#include "net/tcp/writer.h"
#include "stream_pair.h"

enum { EPOCH = 3, NUMBER = 2, BUDGET = 1 << 20 };

/* A writer in clear or encrypted, and the channel where its bytes come out. */
struct pen {
    struct channel_pair pair;
    struct psd_seal *seals[2]; /* the writer's and the other side's; NULL: encrypted */
    struct psd_writer writer;
};

static void take_pen(struct pen *pen, bool in_clear)
{
    struct psd_wire_terms terms = {PAIR_JOB, EPOCH, NUMBER};
    unsigned char keys[2][PSD_CHANNEL_KEY];

    memset(pen, 0, sizeof *pen);
    connect_directly(&pen->pair, in_clear);
    if (in_clear) {
        CHECK_OK(psd_channel_keys(pen->pair.channels[0], keys[0], keys[1]));
        CHECK_OK(psd_seal_create(keys[0], &pen->seals[0]));
        CHECK_OK(psd_seal_create(keys[0], &pen->seals[1]));
    }
    psd_writer_init(&pen->writer, pen->pair.channels[0], pen->seals[0], &terms);
}

static void drop_pen(struct pen *pen)
{
    psd_seal_destroy(pen->seals[0]);
    psd_seal_destroy(pen->seals[1]);
    forget_channels(&pen->pair);
}

static struct psd_frame frame_of(const char *name, const void *data, size_t bytes)
{
    struct psd_frame frame = {.payload = {{data, bytes}}};

    snprintf((char *)frame.header, sizeof frame.header, "%s", name);
    return frame;
}

/* Takes exactly so many bytes out; more are not waited for. */
static void take_bytes(struct pen *pen, unsigned char *out, size_t bytes)
{
    for (size_t at = 0, count = 0; at < bytes; at += count)
        CHECK_OK(psd_channel_read(pen->pair.channels[1], &(struct iovec){out + at, bytes - at}, 1,
                                  &count));
}

static struct psd_wire_head take_head(struct pen *pen)
{
    static const unsigned char none[PSD_WIRE_SEAL];
    unsigned char bytes[PSD_WIRE_HEAD];
    struct psd_wire_head head;

    take_bytes(pen, bytes, sizeof bytes);
    if (pen->seals[1])
        CHECK(psd_seal_is_right(pen->seals[1], bytes));
    else
        CHECK(memcmp(bytes + PSD_WIRE_SEALED, none, sizeof none) == 0);
    CHECK_OK(psd_wire_decode(bytes, &head));
    CHECK(head.job == PAIR_JOB && head.epoch == EPOCH && head.stream == NUMBER);
    return head;
}

static bool is_empty(struct pen *pen)
{
    unsigned char byte;
    size_t count = 0;

    CHECK_OK(psd_channel_read(pen->pair.channels[1], &(struct iovec){&byte, 1}, 1, &count));
    return count == 0;
}

static void a_frame_is_head_payload_and_checksum(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct pen pen;
        struct psd_frame frame = frame_of("x", "abc", 3);
        unsigned char payload[7], crc[PSD_WIRE_CRC];

        frame.payload[1] = (struct psd_span){"defg", 4};
        take_pen(&pen, in_clear);
        psd_frames_put(&pen.writer.waiting, &frame);
        CHECK_OK(psd_writer_write(&pen.writer, BUDGET));
        CHECK(pen.writer.written.first == &frame && psd_writer_is_idle(&pen.writer));
        struct psd_wire_head head = take_head(&pen);
        CHECK(head.kind == PSD_WIRE_DATA && head.sequence == 0 && head.length == 7);
        CHECK_TEXT("x", (const char *)head.header);
        take_bytes(&pen, payload, sizeof payload);
        CHECK(memcmp(payload, "abcdefg", sizeof payload) == 0);
        if (in_clear) {
            uint32_t sum = psd_crc32c(0, "abcdefg", 7);
            take_bytes(&pen, crc, sizeof crc);
            for (size_t i = 0; i < sizeof crc; i++)
                CHECK(crc[i] == (unsigned char)(sum >> 8 * i));
        }
        CHECK(is_empty(&pen));
        drop_pen(&pen);
    }
}

static void the_open_goes_first_and_frames_are_counted(void)
{
    struct pen pen;
    struct psd_frame frames[40];
    unsigned char hello[PSD_FRAME_HEADER] = "hello";

    take_pen(&pen, true);
    for (size_t i = 0; i < 40; i++) {
        frames[i] = frame_of("x", NULL, 0);
        psd_frames_put(&pen.writer.waiting, &frames[i]);
    }
    psd_writer_put_open(&pen.writer, hello);
    psd_writer_put_beat(&pen.writer); /* which is not needed */
    CHECK_OK(psd_writer_write(&pen.writer, BUDGET));
    CHECK(take_head(&pen).kind == PSD_WIRE_OPEN);
    for (size_t i = 0; i < 40; i++) {
        CHECK(take_head(&pen).sequence == i + 1);
        CHECK(psd_frames_take(&pen.writer.written) == &frames[i]);
    }
    CHECK(is_empty(&pen) && !pen.writer.written.first);
    psd_writer_put_beat(&pen.writer);
    CHECK_OK(psd_writer_write(&pen.writer, BUDGET));
    struct psd_wire_head beat = take_head(&pen);
    CHECK(beat.kind == PSD_WIRE_BEAT && beat.sequence == 41);
    CHECK(!pen.writer.written.first);
    drop_pen(&pen);
}

static void nothing_is_written_before_the_streams_number_is_known(void)
{
    struct pen pen;
    struct psd_frame frame = frame_of("x", NULL, 0);

    take_pen(&pen, true);
    pen.writer.terms.number = UINT16_MAX;
    psd_frames_put(&pen.writer.waiting, &frame);
    CHECK_OK(psd_writer_write(&pen.writer, BUDGET));
    psd_writer_say_bye(&pen.writer);
    CHECK(is_empty(&pen));
    pen.writer.terms.number = NUMBER;
    CHECK_OK(psd_writer_write(&pen.writer, BUDGET));
    CHECK(take_head(&pen).sequence == 0);
    drop_pen(&pen);
}

/* Writes a frame as large as this in small portions of budget, and reads it meanwhile. */
static void what_the_socket_does_not_take_goes_later(void)
{
    enum { BYTES = 20 << 20 };
    unsigned char *payload = malloc(BYTES), *got = malloc(BYTES);

    CHECK(payload && got);
    for (size_t i = 0; i < BYTES; i++)
        payload[i] = (unsigned char)(i * 2654435761U >> 11);
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct pen pen;
        struct psd_frame frame = frame_of("x", payload, BYTES - 5);
        size_t at = 0, count = 1;

        frame.payload[1] = (struct psd_span){payload + BYTES - 5, 5};
        take_pen(&pen, in_clear);
        psd_frames_put(&pen.writer.waiting, &frame);
        while (!pen.writer.is_blocked)
            CHECK_OK(psd_writer_write(&pen.writer, 300000));
        CHECK(!psd_writer_is_idle(&pen.writer) && !pen.writer.written.first);
        psd_writer_say_bye(&pen.writer); /* not in the middle of a frame */
        CHECK(take_head(&pen).length == BYTES);
        while (at < BYTES) {
            CHECK_OK(psd_channel_read(pen.pair.channels[1], &(struct iovec){got + at, BYTES - at},
                                      1, &count));
            at += count;
            pen.writer.is_blocked = false;
            CHECK_OK(psd_writer_write(&pen.writer, 300000));
        }
        CHECK(memcmp(payload, got, BYTES) == 0);
        CHECK(pen.writer.written.first == &frame);
        if (in_clear)
            take_bytes(&pen, got, PSD_WIRE_CRC);
        if (in_clear)
            CHECK(psd_little_get(got, PSD_WIRE_CRC) == psd_crc32c(0, payload, BYTES));
        CHECK(is_empty(&pen));
        drop_pen(&pen);
    }
    free(payload);
    free(got);
}

static void bye_takes_the_place_of_what_was_not_begun(void)
{
    struct pen pen;
    struct psd_frame frames[2] = {frame_of("x", NULL, 0), frame_of("y", NULL, 0)};

    take_pen(&pen, true);
    psd_frames_put(&pen.writer.waiting, &frames[0]);
    CHECK_OK(psd_writer_write(&pen.writer, BUDGET));
    psd_frames_put(&pen.writer.waiting, &frames[1]);
    psd_writer_say_bye(&pen.writer);
    CHECK(take_head(&pen).kind == PSD_WIRE_DATA);
    struct psd_wire_head bye = take_head(&pen);
    CHECK(bye.kind == PSD_WIRE_BYE && bye.sequence == 1);
    CHECK(is_empty(&pen));
    drop_pen(&pen);
}

static void a_peer_that_is_gone_ends_the_stream(void)
{
    struct pen pen;
    struct psd_frame frames[2] = {frame_of("x", NULL, 0), frame_of("y", NULL, 0)};
    psd_status status = PSD_OK;

    take_pen(&pen, true);
    psd_channel_destroy(pen.pair.channels[1]);
    pen.pair.channels[1] = NULL;
    for (size_t i = 0; i < 2 && status == PSD_OK; i++) { /* the first one learns it */
        psd_frames_put(&pen.writer.waiting, &frames[i]);
        status = psd_writer_write(&pen.writer, BUDGET);
    }
    CHECK_STATUS(PSD_EPEER, status);
    drop_pen(&pen);
}

int main(int argc, char **argv)
{
    RUN(a_frame_is_head_payload_and_checksum)
    RUN(the_open_goes_first_and_frames_are_counted)
    RUN(nothing_is_written_before_the_streams_number_is_known)
    RUN(what_the_socket_does_not_take_goes_later)
    RUN(bye_takes_the_place_of_what_was_not_begun)
    RUN(a_peer_that_is_gone_ends_the_stream)
}
