/* opening_test.c - an open says which stream of which connection it is, and nothing else. */
#include "net/tcp/opening.h"
#include "test.h"

static const unsigned char bytes[PSD_FRAME_HEADER] = {1,  2,  3,  4,  5,  6, 7, 8, 9, 10,   11,
                                                      12, 13, 14, 15, 16, 2, 0, 3, 0, 0x9e, 0x1b};

static void every_byte_has_its_place(void)
{
    struct psd_opening opening = {.number = 2, .count = 3, .port = 7070}, back;
    unsigned char out[PSD_FRAME_HEADER];

    memcpy(opening.id, bytes, sizeof opening.id);
    psd_opening_encode(&opening, out);
    CHECK(memcmp(out, bytes, sizeof out) == 0);
    CHECK_OK(psd_opening_decode(out, &back));
    CHECK(memcmp(back.id, opening.id, sizeof back.id) == 0);
    CHECK(back.number == 2 && back.count == 3 && back.port == 7070);
}

static void streams_that_cannot_be_are_refused(void)
{
    static const struct {
        const char *why;
        size_t at;
        unsigned char byte;
    } cases[] = {{"the third of two", 18, 2}, {"of none", 18, 0},
                 {"of too many", 19, 1},      {"far beyond", 17, 1},
                 {"with more to say", 22, 1}, {"to the last byte", 39, 0x80}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char header[PSD_FRAME_HEADER];
        struct psd_opening opening = {.port = 5};
        fprintf(stderr, "    %s\n", cases[i].why);
        memcpy(header, bytes, sizeof header);
        header[cases[i].at] = cases[i].byte;
        CHECK_STATUS(PSD_EPEER, psd_opening_decode(header, &opening));
        CHECK(opening.port == 5);
    }
}

int main(int argc, char **argv)
{
    RUN(every_byte_has_its_place)
    RUN(streams_that_cannot_be_are_refused)
}
