/* reader_test.c - bytes written by hand, and what the reader makes of them. */
#include "stream_bytes.h"

static const unsigned char letters[MOUTH_MOST] = "abcdefgh";

static void say_hello(struct mouth *mouth)
{
    say(mouth, (struct psd_wire_head){.kind = PSD_WIRE_OPEN}, NULL);
    CHECK(hear_news(mouth) == PSD_READER_OPENED);
}

static void frames_are_read_part_by_part(void)
{
    struct mouth mouth;

    open_mouth(&mouth);
    say(&mouth, (struct psd_wire_head){.kind = PSD_WIRE_OPEN, .header = "hello"}, NULL);
    say(&mouth, (struct psd_wire_head){.kind = PSD_WIRE_BEAT}, NULL);
    say(&mouth, (struct psd_wire_head){.length = 8, .header = "one"}, letters);
    say(&mouth, (struct psd_wire_head){.header = "two"}, NULL);
    say(&mouth, (struct psd_wire_head){.kind = PSD_WIRE_BYE}, NULL);
    CHECK(hear_news(&mouth) == PSD_READER_OPENED);
    CHECK_TEXT("hello", (const char *)mouth.reader.head.header);
    CHECK(hear_news(&mouth) == PSD_READER_HEAD);
    CHECK(mouth.reader.head.length == 8);
    CHECK_OK(give_place(&mouth, false));
    CHECK(hear_news(&mouth) == PSD_READER_ARRIVED);
    CHECK_TEXT("one", (const char *)mouth.reader.head.header);
    CHECK(memcmp(mouth.memory, letters, 8) == 0);
    CHECK(hear_news(&mouth) == PSD_READER_HEAD);
    CHECK_OK(give_place(&mouth, false));
    CHECK(hear_news(&mouth) == PSD_READER_ARRIVED);
    CHECK(hear_news(&mouth) == PSD_READER_BYE);
    CHECK(mouth.reader.total == 5 * PSD_WIRE_HEAD + 8 + PSD_WIRE_CRC);
    shut_mouth(&mouth);
}

/* Says the bytes in portions and counts the arrivals of frames that are added. */
static unsigned count_arrivals(struct mouth *mouth, const unsigned char *bytes, size_t count,
                               size_t portion)
{
    unsigned arrived = 0;

    for (size_t at = 0; at < count; at += portion) {
        enum psd_reader_news news;
        say_bytes(mouth, bytes + at, count - at < portion ? count - at : portion);
        while ((news = hear_news(mouth)) != PSD_READER_NOTHING) {
            if (news == PSD_READER_HEAD)
                CHECK_OK(give_place(mouth, true));
            arrived += news == PSD_READER_ARRIVED;
        }
        CHECK(mouth->reader.is_dry);
    }
    return arrived;
}

static void bytes_may_come_in_any_portions(void)
{
    static const size_t portions[] = {1, 2, 3, 5, 7, 88, 89, 93, 97, 150, 1000};
    static const float numbers[] = {1, 2, 3, 4, 5, 6, 7};
    unsigned char bytes[1024], payload[sizeof numbers];

    memcpy(payload, numbers, sizeof numbers);
    for (size_t i = 0; i < sizeof portions / sizeof *portions; i++) {
        struct mouth mouth;
        size_t count = 0;
        float sums[8];

        open_mouth(&mouth);
        count += make_frame(&mouth, (struct psd_wire_head){.kind = PSD_WIRE_OPEN}, NULL, bytes);
        for (size_t k = 0; k < 5; k++)
            count += make_frame(&mouth, (struct psd_wire_head){.length = sizeof payload}, payload,
                                bytes + count);
        CHECK(count_arrivals(&mouth, bytes, count, portions[i]) == 5);
        memcpy(sums, mouth.memory, sizeof sums);
        for (size_t k = 0; k < 8; k++)
            CHECK(sums[k] == (k < 7 ? 5 * numbers[k] : 0));
        shut_mouth(&mouth);
    }
}

static int mark_of(const struct mouth *mouth)
{
    int mark = 0;
    socklen_t size = sizeof mark;

    CHECK(getsockopt(psd_channel_fd(mouth->pair.channels[1]), SOL_SOCKET, SO_RCVLOWAT, &mark,
                     &size) == 0);
    return mark;
}

static void who_rests_within_a_payload_is_woken_when_the_rest_is_there(void)
{
    enum { LENGTH = 150000, FIRST = 50000, REST = LENGTH - FIRST + PSD_WIRE_CRC };
    struct mouth mouth;
    unsigned char *bytes = malloc(PSD_WIRE_HEAD + LENGTH + PSD_WIRE_CRC);
    unsigned char *payload = calloc(1, LENGTH), *memory = malloc(LENGTH);
    struct psd_place place = {.spans = {{memory, LENGTH}}};

    CHECK(bytes && payload && memory);
    open_mouth(&mouth);
    say_hello(&mouth);
    make_frame(&mouth, (struct psd_wire_head){.length = LENGTH}, payload, bytes);
    say_bytes(&mouth, bytes, PSD_WIRE_HEAD - 1);
    CHECK(hear_news(&mouth) == PSD_READER_NOTHING);
    psd_reader_rest(&mouth.reader);
    CHECK(mark_of(&mouth) == 1);
    say_bytes(&mouth, bytes + PSD_WIRE_HEAD - 1, 1 + FIRST);
    CHECK(hear_news(&mouth) == PSD_READER_HEAD);
    CHECK_OK(psd_reader_place(&mouth.reader, &place));
    CHECK(hear_news(&mouth) == PSD_READER_NOTHING);
    psd_reader_rest(&mouth.reader);
    CHECK(mark_of(&mouth) == REST);
    say_bytes(&mouth, bytes + PSD_WIRE_HEAD + FIRST, REST - 1);
    CHECK(hear_news(&mouth) == PSD_READER_NOTHING);
    psd_reader_rest(&mouth.reader);
    CHECK(mark_of(&mouth) == 1);
    say_bytes(&mouth, bytes + PSD_WIRE_HEAD + FIRST + REST - 1, 1);
    CHECK(hear_news(&mouth) == PSD_READER_ARRIVED);
    shut_mouth(&mouth);
    free(bytes);
    free(payload);
    free(memory);
}

static void strange_heads_are_refused_and_change_nothing(void)
{
    static const struct {
        const char *why;
        struct psd_wire_head head;
        enum psd_reader_refusal refusal;
    } cases[] = {
        {"a frame of another job", {.job = 8}, PSD_READER_FOREIGN},
        {"of an older epoch", {.epoch = 2}, PSD_READER_OLD},
        {"of a later epoch", {.epoch = 4}, PSD_READER_OLD},
        {"of another stream", {.stream = 1}, PSD_READER_GARBLED},
        {"a frame left out", {.sequence = 3}, PSD_READER_REPLAYED},
        {"a frame from long ago", {.sequence = UINT64_MAX}, PSD_READER_REPLAYED},
        {"another open", {.kind = PSD_WIRE_OPEN}, PSD_READER_GARBLED},
        {"a payload that cannot be", {.length = UINT64_C(1) << 41}, PSD_READER_GARBLED},
        {"a beat with a payload", {.kind = PSD_WIRE_BEAT, .length = 1}, PSD_READER_GARBLED},
        {"a bye with a payload", {.kind = PSD_WIRE_BYE, .length = 1}, PSD_READER_GARBLED},
        {"no kind of ours", {.kind = (enum psd_wire_kind)9}, PSD_READER_GARBLED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mouth mouth;
        enum psd_reader_news news = PSD_READER_NOTHING;

        fprintf(stderr, "    %s\n", cases[i].why);
        open_mouth(&mouth);
        say_hello(&mouth);
        say(&mouth, cases[i].head, NULL);
        psd_reader_turn(&mouth.reader, MOUTH_BUDGET);
        CHECK_STATUS(PSD_EPEER, psd_reader_step(&mouth.reader, &news));
        CHECK(mouth.reader.refusal == cases[i].refusal && news == PSD_READER_NOTHING);
        CHECK(mouth.reader.sequence == 1 && mouth.reader.head.kind == PSD_WIRE_OPEN);
        CHECK_STATUS(PSD_EPEER, psd_reader_step(&mouth.reader, &news)); /* it stays so */
        shut_mouth(&mouth);
    }
}

static void a_frame_that_was_said_before_is_refused(void)
{
    unsigned char bytes[PSD_WIRE_HEAD];
    struct mouth mouth;
    enum psd_reader_news news = PSD_READER_NOTHING;

    open_mouth(&mouth);
    say_hello(&mouth);
    size_t count = make_frame(&mouth, (struct psd_wire_head){.kind = PSD_WIRE_BEAT}, NULL, bytes);
    say_bytes(&mouth, bytes, count);
    CHECK(hear_news(&mouth) == PSD_READER_NOTHING);
    say_bytes(&mouth, bytes, count);
    psd_reader_turn(&mouth.reader, MOUTH_BUDGET);
    CHECK_STATUS(PSD_EPEER, psd_reader_step(&mouth.reader, &news));
    CHECK(mouth.reader.refusal == PSD_READER_REPLAYED);
    shut_mouth(&mouth);
}

/* Every byte of a frame matters, in the head, the seal, the payload and the CRC. */
static void a_changed_byte_is_seen_wherever_it_is(void)
{
    unsigned char bytes[PSD_WIRE_HEAD + 8 + PSD_WIRE_CRC];
    struct mouth mouth;

    open_mouth(&mouth);
    for (size_t at = 0; at < sizeof bytes; at++) {
        enum psd_reader_news news = PSD_READER_NOTHING;
        psd_status status = PSD_OK;

        psd_reader_fini(&mouth.reader);
        start_reader(&mouth);
        say_hello(&mouth);
        make_frame(&mouth, (struct psd_wire_head){.length = 8}, letters, bytes);
        bytes[at] ^= (unsigned char)(1U << at % 8);
        say_bytes(&mouth, bytes, sizeof bytes);
        psd_reader_turn(&mouth.reader, MOUTH_BUDGET);
        status = psd_reader_step(&mouth.reader, &news);
        if (at >= PSD_WIRE_HEAD) {
            CHECK(status == PSD_OK && news == PSD_READER_HEAD);
            CHECK_OK(give_place(&mouth, false));
            status = psd_reader_step(&mouth.reader, &news);
        }
        CHECK_STATUS(PSD_EPEER, status);
        CHECK(mouth.reader.refusal == PSD_READER_GARBLED);
        while (recv(psd_channel_fd(mouth.pair.channels[1]), bytes, sizeof bytes, 0) > 0)
            ;
    }
    shut_mouth(&mouth);
}

static void the_first_frame_is_an_open_or_a_bye(void)
{
    static const enum psd_wire_kind kinds[] = {PSD_WIRE_DATA, PSD_WIRE_BEAT, PSD_WIRE_BYE};

    for (size_t i = 0; i < 3; i++) {
        struct mouth mouth;
        enum psd_reader_news news = PSD_READER_NOTHING;
        bool is_bye = kinds[i] == PSD_WIRE_BYE;

        open_mouth(&mouth);
        say(&mouth, (struct psd_wire_head){.kind = kinds[i]}, NULL);
        CHECK_STATUS(is_bye ? PSD_OK : PSD_EPEER, psd_reader_step(&mouth.reader, &news));
        CHECK(news == (is_bye ? PSD_READER_BYE : PSD_READER_NOTHING));
        shut_mouth(&mouth);
    }
}

static void an_end_without_a_bye_is_no_refusal(void)
{
    struct mouth mouth;
    enum psd_reader_news news = PSD_READER_NOTHING;

    open_mouth(&mouth);
    say_hello(&mouth);
    psd_channel_destroy(mouth.pair.channels[0]);
    mouth.pair.channels[0] = NULL;
    psd_reader_turn(&mouth.reader, MOUTH_BUDGET);
    CHECK_STATUS(PSD_EPEER, psd_reader_step(&mouth.reader, &news));
    CHECK(mouth.reader.refusal == PSD_READER_FINE);
    shut_mouth(&mouth);
}

static void places_that_do_not_fit_are_refused(void)
{
    static const struct {
        size_t first, second;
        bool add, is_empty;
    } cases[] = {{7, 0, false, false}, {8, 1, false, false}, {9, SIZE_MAX, false, false},
                 {4, 3, false, false}, {6, 2, true, false},  {4, 4, false, true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mouth mouth;
        struct psd_place place = {.add = cases[i].add};

        open_mouth(&mouth);
        say_hello(&mouth);
        CHECK_STATUS(PSD_EINVAL, give_place(&mouth, false)); /* nobody has asked */
        say(&mouth, (struct psd_wire_head){.length = 8}, letters);
        CHECK(hear_news(&mouth) == PSD_READER_HEAD);
        place.spans[0].data = cases[i].is_empty ? NULL : mouth.memory;
        place.spans[0].bytes = cases[i].first;
        place.spans[1].data = mouth.memory + 8;
        place.spans[1].bytes = cases[i].second;
        CHECK_STATUS(PSD_EINVAL, psd_reader_place(&mouth.reader, &place));
        shut_mouth(&mouth);
    }
}

static void a_turn_ends_with_its_budget(void)
{
    struct mouth mouth;
    enum psd_reader_news news = PSD_READER_NOTHING;

    open_mouth(&mouth);
    say_hello(&mouth);
    say(&mouth, (struct psd_wire_head){.length = MOUTH_MOST}, letters);
    say(&mouth, (struct psd_wire_head){.length = 8}, letters);
    psd_reader_turn(&mouth.reader, 1);
    CHECK_OK(psd_reader_step(&mouth.reader, &news));
    CHECK(news == PSD_READER_HEAD);
    CHECK_OK(give_place(&mouth, false));
    CHECK_OK(psd_reader_step(&mouth.reader, &news));
    CHECK(news == PSD_READER_NOTHING && !mouth.reader.is_dry); /* there is more */
    CHECK(hear_news(&mouth) == PSD_READER_ARRIVED);
    CHECK(hear_news(&mouth) == PSD_READER_HEAD);
    shut_mouth(&mouth);
}

int main(int argc, char **argv)
{
    RUN(frames_are_read_part_by_part)
    RUN(bytes_may_come_in_any_portions)
    RUN(who_rests_within_a_payload_is_woken_when_the_rest_is_there)
    RUN(strange_heads_are_refused_and_change_nothing)
    RUN(a_frame_that_was_said_before_is_refused)
    RUN(a_changed_byte_is_seen_wherever_it_is)
    RUN(the_first_frame_is_an_open_or_a_bye)
    RUN(an_end_without_a_bye_is_no_refusal)
    RUN(places_that_do_not_fit_are_refused)
    RUN(a_turn_ends_with_its_budget)
}
