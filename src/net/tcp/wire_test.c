/* wire_test.c - every number has its bytes, and what is no head is refused. */
#include "net/tcp/wire.h"
#include "test.h"

static const struct psd_wire_head example = {
    .kind = PSD_WIRE_DATA,
    .stream = 0x0201,
    .epoch = 0x06050403,
    .job = UINT64_C(0x0e0d0c0b0a090807),
    .sequence = UINT64_C(0x1615141312111009),
    .length = UINT64_C(0x1e1d1c1b1a191817),
    .header = {[0] = 0xaa, [39] = 0xbb},
};

static const unsigned char bytes[PSD_WIRE_SEALED] = {
    1,    1,          0x01, 0x02, 0x03, 0x04, 0x05, 0x06, /* version, kind, stream, epoch */
    0x07, 0x08,       0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, /* job */
    0x09, 0x10,       0x11, 0x12, 0x13, 0x14, 0x15, 0x16, /* sequence */
    0x17, 0x18,       0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, /* length */
    0xaa, [71] = 0xbb};

static void every_number_has_its_bytes(void)
{
    unsigned char out[PSD_WIRE_SEALED];

    psd_wire_encode(&example, out);
    CHECK(memcmp(bytes, out, sizeof out) == 0);
}

static void what_is_written_is_read_again(void)
{
    struct psd_wire_head head = {.kind = PSD_WIRE_BYE};

    CHECK_OK(psd_wire_decode(bytes, &head));
    CHECK(head.kind == example.kind && head.stream == example.stream);
    CHECK(head.epoch == example.epoch && head.job == example.job);
    CHECK(head.sequence == example.sequence && head.length == example.length);
    CHECK(memcmp(head.header, example.header, sizeof head.header) == 0);
}

static void each_kind_is_read_without_what_it_cannot_have(void)
{
    static const enum psd_wire_kind kinds[] = {PSD_WIRE_DATA, PSD_WIRE_BEAT, PSD_WIRE_OPEN,
                                               PSD_WIRE_BYE};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct psd_wire_head head = {.kind = kinds[i], .sequence = 9}, again;
        unsigned char out[PSD_WIRE_SEALED];
        psd_wire_encode(&head, out);
        CHECK_OK(psd_wire_decode(out, &again));
        CHECK(again.kind == kinds[i] && again.sequence == 9);
    }
}

static void what_is_no_head_is_refused_and_changes_nothing(void)
{
    static const struct {
        size_t at;
        unsigned char byte, kind;
        const char *why;
    } cases[] = {
        {0, 0, 1,
         "sends frames of version 0, and we know version 1: let all processes run the "
         "same version of Poseidon"},
        {0, 2, 1,
         "sends frames of version 2, and we know version 1: let all processes run the "
         "same version of Poseidon"},
        {1, 0, 0, "sends a frame of kind 0, which there is not"},
        {1, 5, 5, "sends a frame of kind 5, which there is not"},
        {31, 1, PSD_WIRE_BEAT, "sends a frame of kind 2 with a payload, which it cannot have"},
        {24, 1, PSD_WIRE_OPEN, "sends a frame of kind 3 with a payload, which it cannot have"},
        {24, 1, PSD_WIRE_BYE, "sends a frame of kind 4 with a payload, which it cannot have"},
        {71, 1, PSD_WIRE_BEAT, "sends a beat with a header, which it cannot have"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_wire_head head = {.sequence = 77};
        unsigned char wrong[PSD_WIRE_SEALED] = {[0] = PSD_WIRE_VERSION, [1] = cases[i].kind};
        wrong[cases[i].at] = cases[i].byte;
        CHECK_STATUS(PSD_EPEER, psd_wire_decode(wrong, &head));
        CHECK_TEXT(cases[i].why, psd_error());
        CHECK(head.sequence == 77);
    }
}

int main(int argc, char **argv)
{
    RUN(every_number_has_its_bytes)
    RUN(what_is_written_is_read_again)
    RUN(each_kind_is_read_without_what_it_cannot_have)
    RUN(what_is_no_head_is_refused_and_changes_nothing)
}
