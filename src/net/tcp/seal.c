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

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>

struct psd_seal {
    SHA256_CTX inner, outer;
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
    struct psd_seal *seal = psd_alloc(sizeof *seal);

    if (!seal)
        return PSD_ENOMEM;
    begin(&seal->inner, key, 0x36);
    begin(&seal->outer, key, 0x5c);
    *out = seal;
    return PSD_OK;
}

void psd_seal_destroy(struct psd_seal *seal)
{
    if (!seal)
        return;
    OPENSSL_cleanse(seal, sizeof *seal);
    psd_alloc_free(seal);
}

static void compute(const struct psd_seal *seal, const unsigned char head[PSD_WIRE_HEAD],
                    unsigned char out[SHA256_DIGEST_LENGTH])
{
    SHA256_CTX hash = seal->inner;

    SHA256_Update(&hash, head, PSD_WIRE_SEALED);
    SHA256_Final(out, &hash);
    hash = seal->outer;
    SHA256_Update(&hash, out, SHA256_DIGEST_LENGTH);
    SHA256_Final(out, &hash);
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
