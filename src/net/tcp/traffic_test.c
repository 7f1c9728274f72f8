/* traffic_test.c - keys as in RFC 8448, and secrets as OpenSSL writes them. */
#include "net/tcp/traffic.h"
#include "test.h"

/* RFC 8448, 3: the server's first secret behind the handshake, and what it derives from that. */
static const char secret_text[] =
    "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643";
static const unsigned char secret_key[] = {0x9f, 0x02, 0x28, 0x3b, 0x6c, 0x9c, 0x07, 0xef,
                                           0xc2, 0x6b, 0xb9, 0xf2, 0xac, 0x92, 0xe3, 0x56};
static const unsigned char secret_iv[] = {0xcf, 0x78, 0x2b, 0x88, 0xdd, 0x83,
                                          0x54, 0x9a, 0xad, 0xf1, 0xe9, 0x84};

static void read_secret(unsigned char out[PSD_TRAFFIC_SECRET])
{
    char line[256];

    snprintf(line, sizeof line, "SERVER_TRAFFIC_SECRET_0 %s %s", "00ff", secret_text);
    CHECK(psd_traffic_read(line, "SERVER_TRAFFIC_SECRET_0", out));
}

static void keys_are_those_of_rfc_8448(void)
{
    unsigned char secret[PSD_TRAFFIC_SECRET], key[PSD_TRAFFIC_KEY], iv[PSD_TRAFFIC_IV];

    read_secret(secret);
    CHECK(psd_traffic_keys(secret, key, iv));
    CHECK(memcmp(key, secret_key, sizeof key) == 0);
    CHECK(memcmp(iv, secret_iv, sizeof iv) == 0);
}

/* HKDF-Expand-Label(secret, "traffic upd", "", 32), computed by another implementation. */
static void the_next_secret_is_that_of_rfc_8446(void)
{
    static const unsigned char next[PSD_TRAFFIC_SECRET] = {
        0x51, 0x92, 0x1b, 0x8a, 0xa3, 0x00, 0x19, 0x76, 0xeb, 0x40, 0x1d,
        0x0a, 0x43, 0x19, 0xa8, 0x51, 0x64, 0x16, 0xa6, 0xc5, 0x60, 0x01,
        0xa3, 0x57, 0xe5, 0xd1, 0x62, 0x03, 0x1e, 0x84, 0xf9, 0x16};
    unsigned char secret[PSD_TRAFFIC_SECRET], got[PSD_TRAFFIC_SECRET];

    read_secret(secret);
    CHECK(psd_traffic_next(secret, got));
    CHECK(memcmp(got, next, sizeof next) == 0);
}

static void only_a_whole_line_of_its_label_is_taken(void)
{
    static const struct {
        const char *before, *after;
    } others[] = {{"CLIENT_TRAFFIC_SECRET_0 00ff ", ""},   {"SERVER_TRAFFIC_SECRET_01 00ff ", ""},
                  {"SERVER_TRAFFIC_SECRET_0 00ff ", "ff"}, {"SERVER_TRAFFIC_SECRET_0 00ff ", " ff"},
                  {"SERVER_TRAFFIC_SECRET_0 00ff", ""},    {"", ""}};
    unsigned char secret[PSD_TRAFFIC_SECRET];
    char line[256];

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(line, sizeof line, "%s%s%s", others[i].before, secret_text, others[i].after);
        CHECK(!psd_traffic_read(line, "SERVER_TRAFFIC_SECRET_0", secret));
    }
    snprintf(line, sizeof line, "SERVER_TRAFFIC_SECRET_0 00ff %s", secret_text);
    line[strlen(line) - 1] = 'G';
    CHECK(!psd_traffic_read(line, "SERVER_TRAFFIC_SECRET_0", secret));
    CHECK(!psd_traffic_read("SERVER_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0", secret));
}

int main(int argc, char **argv)
{
    RUN(keys_are_those_of_rfc_8448)
    RUN(the_next_secret_is_that_of_rfc_8446)
    RUN(only_a_whole_line_of_its_label_is_taken)
}
