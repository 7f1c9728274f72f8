/* identity_test.c - what is said in clear has its bytes, and what differs is named. */
#include "net/tcp/identity.h"
#include "test.h"

static const unsigned char bytes[PSD_IDENTITY] = {'p', 'o', 's', 'e', 'i', 'd', 'o', 'n', 1,
                                                  1,   8,   7,   6,   5,   4,   3,   2,   1};

static void every_field_has_its_bytes(void)
{
    unsigned char out[PSD_IDENTITY] = {0};

    psd_identity_write(UINT64_C(0x0102030405060708), false, out);
    CHECK(memcmp(bytes, out, sizeof out) == 0);
    psd_identity_write(UINT64_C(0x0102030405060708), true, out);
    CHECK(out[9] == 0);
}

static void what_differs_is_named(void)
{
    static const struct {
        size_t at, size;
        unsigned char byte;
        enum psd_identity_doubt doubt;
    } cases[] = {
        {33, 34, 99, PSD_IDENTITY_SAME}, /* random bytes are everybody's own */
        {18, 34, 99, PSD_IDENTITY_SAME},    {0, 34, 'P', PSD_IDENTITY_STRANGE},
        {7, 34, 'm', PSD_IDENTITY_STRANGE}, {8, 34, 2, PSD_IDENTITY_VERSION},
        {8, 9, 2, PSD_IDENTITY_VERSION}, /* whatever a later version has behind it */
        {9, 34, 0, PSD_IDENTITY_CLEAR},     {9, 34, 2, PSD_IDENTITY_STRANGE},
        {10, 34, 9, PSD_IDENTITY_JOB},      {17, 34, 9, PSD_IDENTITY_JOB},
        {33, 33, 0, PSD_IDENTITY_STRANGE},  {33, 35, 0, PSD_IDENTITY_STRANGE},
        {33, 8, 0, PSD_IDENTITY_STRANGE},   {33, 0, 0, PSD_IDENTITY_STRANGE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char other[PSD_IDENTITY + 1] = {0};
        memcpy(other, bytes, sizeof bytes);
        other[cases[i].at] = cases[i].byte;
        unsigned char *exact = malloc(cases[i].size + !cases[i].size); /* for the sanitizer */
        memcpy(exact, other, cases[i].size);
        CHECK(psd_identity_compare(bytes, exact, cases[i].size) == cases[i].doubt);
        free(exact);
    }
}

static void who_speaks_in_clear_tells_those_who_encrypt(void)
{
    unsigned char clear[PSD_IDENTITY] = {0}, secret[PSD_IDENTITY] = {0};

    psd_identity_write(1, true, clear);
    psd_identity_write(1, false, secret);
    CHECK(psd_identity_compare(clear, secret, sizeof secret) == PSD_IDENTITY_SECRET);
    CHECK(psd_identity_compare(secret, clear, sizeof clear) == PSD_IDENTITY_CLEAR);
    CHECK(psd_identity_compare(clear, clear, sizeof clear) == PSD_IDENTITY_SAME);
}

int main(int argc, char **argv)
{
    RUN(every_field_has_its_bytes)
    RUN(what_differs_is_named)
    RUN(who_speaks_in_clear_tells_those_who_encrypt)
}
