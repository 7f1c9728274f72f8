/* hello_test.c - a first record is waited for, byte by byte, and no other thing is. */
#include "net/tcp/hello.h"
#include "test.h"

/* A record of `record` bytes that says that its message has `message`. */
static struct psd_hello make(size_t record, size_t message, size_t count)
{
    struct psd_hello hello = {
        .bytes = {22, 3, 1, (unsigned char)(record >> 8), (unsigned char)record, 1,
                  (unsigned char)(message >> 16), (unsigned char)(message >> 8),
                  (unsigned char)message},
        .count = count,
    };

    return hello;
}

static void what_is_missing_is_wanted(void)
{
    static const struct {
        size_t count, wanted;
    } cases[] = {{0, 9}, {1, 8}, {8, 1}, {9, 200}, {10, 199}, {208, 1}, {209, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_hello hello = make(204, 200, cases[i].count);
        size_t wanted = 77;
        CHECK_OK(psd_hello_check(&hello, &wanted));
        CHECK(wanted == cases[i].wanted);
    }
}

static void the_longest_fits_and_one_byte_more_does_not(void)
{
    struct psd_hello longest = make(PSD_HELLO - 5, PSD_HELLO - 9, 9);
    struct psd_hello longer = make(PSD_HELLO - 4, PSD_HELLO - 8, 9);
    size_t wanted = 0;

    CHECK_OK(psd_hello_check(&longest, &wanted));
    CHECK(wanted == PSD_HELLO - 9);
    CHECK_STATUS(PSD_EPEER, psd_hello_check(&longer, &wanted));
}

static void what_is_no_hello_is_refused(void)
{
    struct psd_hello cases[] = {make(204, 200, 9), make(204, 200, 9),      make(204, 201, 9),
                                make(204, 199, 9), make(204, 0x0100c8, 9), make(3, 0, 9),
                                make(0, 0, 9)};

    cases[0].bytes[0] = 'G'; /* GET / HTTP/1.1 */
    cases[1].bytes[5] = 2;   /* a ServerHello */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t wanted = 0;
        CHECK_STATUS(PSD_EPEER, psd_hello_check(&cases[i], &wanted));
        CHECK(strstr(psd_error(), "is no Poseidon: ") == psd_error());
    }
}

int main(int argc, char **argv)
{
    RUN(what_is_missing_is_wanted)
    RUN(the_longest_fits_and_one_byte_more_does_not)
    RUN(what_is_no_hello_is_refused)
}
