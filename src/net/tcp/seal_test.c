/* seal_test.c - seals are HMAC-SHA-256 as OpenSSL makes it, and any other bit is told. */
#include "base/alloc.h"
#include "net/tcp/seal.h"
#include "test.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

static const unsigned char key[PSD_CHANNEL_KEY] = {1, 2, 3, [31] = 0xff};

static struct psd_seal *new_seal(const unsigned char *its)
{
    struct psd_seal *seal = NULL;

    CHECK_OK(psd_seal_create(its, &seal));
    return seal;
}

static void fill(unsigned char head[PSD_WIRE_HEAD], unsigned seed)
{
    for (unsigned i = 0; i < PSD_WIRE_HEAD; i++)
        head[i] = (unsigned char)(seed * 31 + i * 7);
}

static void a_seal_is_the_first_half_of_an_hmac(void)
{
    struct psd_seal *seal = new_seal(key);

    for (unsigned seed = 0; seed < 50; seed++) {
        unsigned char head[PSD_WIRE_HEAD], right[EVP_MAX_MD_SIZE];
        fill(head, seed);
        CHECK(HMAC(EVP_sha256(), key, sizeof key, head, PSD_WIRE_SEALED, right, NULL));
        psd_seal_put(seal, head);
        CHECK(memcmp(right, head + PSD_WIRE_SEALED, PSD_WIRE_SEAL) == 0);
        CHECK(psd_seal_is_right(seal, head));
    }
    psd_seal_destroy(seal);
}

static void every_flipped_bit_is_told(void)
{
    struct psd_seal *seal = new_seal(key);
    unsigned char head[PSD_WIRE_HEAD];

    fill(head, 3);
    psd_seal_put(seal, head);
    for (unsigned bit = 0; bit < PSD_WIRE_HEAD * 8; bit++) {
        head[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(!psd_seal_is_right(seal, head));
        head[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CHECK(psd_seal_is_right(seal, head));
    psd_seal_destroy(seal);
}

static void a_seal_of_another_key_is_told(void)
{
    for (unsigned at = 0; at < PSD_CHANNEL_KEY; at++) {
        unsigned char other[PSD_CHANNEL_KEY], head[PSD_WIRE_HEAD] = {0};
        memcpy(other, key, sizeof other);
        other[at] ^= 0x10;
        struct psd_seal *ours = new_seal(key), *theirs = new_seal(other);
        psd_seal_put(theirs, head);
        CHECK(!psd_seal_is_right(ours, head));
        psd_seal_destroy(ours);
        psd_seal_destroy(theirs);
    }
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_seal *seal = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_seal_create(key, &seal);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (seal == NULL));
        psd_seal_destroy(seal);
    }
}

int main(int argc, char **argv)
{
    RUN(a_seal_is_the_first_half_of_an_hmac)
    RUN(every_flipped_bit_is_told)
    RUN(a_seal_of_another_key_is_told)
    RUN(create_survives_every_failed_allocation)
}
