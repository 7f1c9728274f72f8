/* seal.c - HMAC-SHA-256 (RFC 2104), with both its first blocks hashed beforehand.
 *
 *     seal = SHA256(key ^ 5c5c... | SHA256(key ^ 3636... | head))
 *            '-- outer, copied --'  '-- inner, copied --'
 *
 * OpenSSL's EVP_MAC allocates for every message; its older functions for SHA-256 work in memory of the
 * caller. */
#define OPENSSL_API_COMPAT 10101 /* these are deprecated since 3.0 */

#include "net/tcp/seal.h"
#include "base/alloc.h"
#include "base/secret.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>

/* As good as the key. */
struct hashes {
    SHA256_CTX inner, outer;
};

struct psd_seal {
    struct psd_secret *hashes; /* owned; a struct hashes */
};

/* What is left of a hash after the key's block. */
static void begin(SHA256_CTX *hash, const unsigned char key[PSD_CHANNEL_KEY], unsigned char pad)
{
    unsigned char block[SHA256_CBLOCK];

    memset(block, pad, sizeof block);
    for (unsigned i = 0; i < PSD_CHANNEL_KEY; i++)
        block[i] ^= key[i];
    SHA256_Init(hash);
    SHA256_Update(hash, block, sizeof block);
    OPENSSL_cleanse(block, sizeof block);
}

psd_status psd_seal_create(const unsigned char key[PSD_CHANNEL_KEY], struct psd_seal **out)
{
    struct psd_seal *seal = psd_alloc_zero(1, sizeof *seal);
    struct hashes hashes;

    if (!seal)
        return PSD_ENOMEM;
    begin(&hashes.inner, key, 0x36);
    begin(&hashes.outer, key, 0x5c);
    psd_status status = psd_secret_create(&hashes, sizeof hashes, &seal->hashes);
    OPENSSL_cleanse(&hashes, sizeof hashes);
    if (status == PSD_OK)
        *out = seal;
    else
        psd_seal_destroy(seal);
    return status;
}

void psd_seal_destroy(struct psd_seal *seal)
{
    if (!seal)
        return;
    psd_secret_destroy(seal->hashes);
    psd_alloc_free(seal);
}

static void compute(const struct psd_seal *seal, const unsigned char head[PSD_WIRE_HEAD],
                    unsigned char out[SHA256_DIGEST_LENGTH])
{
    const struct hashes *hashes = psd_secret_data(seal->hashes);
    SHA256_CTX hash = hashes->inner;

    SHA256_Update(&hash, head, PSD_WIRE_SEALED);
    SHA256_Final(out, &hash);
    hash = hashes->outer;
    SHA256_Update(&hash, out, SHA256_DIGEST_LENGTH);
    SHA256_Final(out, &hash); /* nothing of the key is left in it */
}

void psd_seal_put(struct psd_seal *seal, unsigned char head[PSD_WIRE_HEAD])
{
    unsigned char right[SHA256_DIGEST_LENGTH];

    compute(seal, head, right);
    memcpy(head + PSD_WIRE_SEALED, right, PSD_WIRE_SEAL);
}

bool psd_seal_is_right(struct psd_seal *seal, const unsigned char head[PSD_WIRE_HEAD])
{
    unsigned char right[SHA256_DIGEST_LENGTH];

    compute(seal, head, right);
    return CRYPTO_memcmp(right, head + PSD_WIRE_SEALED, PSD_WIRE_SEAL) == 0;
}
