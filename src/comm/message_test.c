/* message_test.c - the bytes of a header, there and back. */
#include "comm/message.h"
#include "test.h"

static const struct psd_message example = {
    .kind = PSD_MESSAGE_VALUE,
    .from = 0x030201,
    .rate = 0x0f0e0d0c,
    .iteration = UINT64_C(0x0807060504030201),
    .subject = 0x14131211,
    .which = 0x24232221,
    .first = 0x34333231,
    .count = 0x44434241,
    .length = UINT64_C(0x5857565554535251),
};

static const unsigned char bytes[PSD_MESSAGE_SIZE] = {
    3,    1,    2,    3,                            /* kind, from */
    0x0c, 0x0d, 0x0e, 0x0f,                         /* rate */
    1,    2,    3,    4,    5,    6,    7,    8,    /* iteration */
    0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, /* subject, which */
    0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, /* first, count */
    0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, /* length */
};

static void every_number_has_its_place(void)
{
    unsigned char out[PSD_MESSAGE_SIZE];

    memset(out, 0xee, sizeof out);
    psd_message_encode(&example, out);
    CHECK(memcmp(out, bytes, sizeof out) == 0);
}

static void a_header_is_read_as_it_was_written(void)
{
    struct psd_message message = {.from = 77};

    CHECK_OK(psd_message_decode(bytes, &message));
    CHECK(message.kind == example.kind && message.from == example.from);
    CHECK(message.rate == example.rate);
    CHECK(message.iteration == example.iteration && message.length == example.length);
    CHECK(message.subject == example.subject && message.which == example.which);
    CHECK(message.first == example.first && message.count == example.count);
}

static void every_kind_travels_and_has_a_name_of_its_own(void)
{
    for (int kind = PSD_MESSAGE_PUSH; kind < PSD_MESSAGE_KINDS; kind++) {
        struct psd_message message = {.kind = (enum psd_message_kind)kind}, back;
        unsigned char out[PSD_MESSAGE_SIZE];
        psd_message_encode(&message, out);
        CHECK_OK(psd_message_decode(out, &back));
        CHECK((int)back.kind == kind);
        for (int other = 0; other < kind; other++)
            CHECK(strcmp(psd_message_name((enum psd_message_kind)other),
                         psd_message_name(message.kind)) != 0);
    }
    CHECK_TEXT("push", psd_message_name(PSD_MESSAGE_PUSH));
    CHECK_TEXT("leave", psd_message_name(PSD_MESSAGE_LEAVE));
}

static void what_is_no_kind_has_a_name_too(void)
{
    CHECK_TEXT("unknown", psd_message_name((enum psd_message_kind)0));
    CHECK_TEXT("unknown", psd_message_name(PSD_MESSAGE_KINDS));
    CHECK_TEXT("unknown", psd_message_name((enum psd_message_kind)1000));
}

static void strange_headers_are_refused_and_change_nothing(void)
{
    static const struct {
        const char *why;
        unsigned char kind;
    } cases[] = {
        {"no kind", 0},
        {"the first kind too many", PSD_MESSAGE_KINDS},
        {"a kind far away", 255},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_message message = {.from = 77};
        unsigned char header[PSD_MESSAGE_SIZE];
        fprintf(stderr, "    %s\n", cases[i].why);
        memcpy(header, bytes, sizeof header);
        header[0] = cases[i].kind;
        CHECK_STATUS(PSD_EPEER, psd_message_decode(header, &message));
        CHECK(message.from == 77 && message.length == 0);
    }
}

int main(int argc, char **argv)
{
    RUN(every_number_has_its_place)
    RUN(a_header_is_read_as_it_was_written)
    RUN(every_kind_travels_and_has_a_name_of_its_own)
    RUN(what_is_no_kind_has_a_name_too)
    RUN(strange_headers_are_refused_and_change_nothing)
}
