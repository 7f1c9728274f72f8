/* traffic.c - HKDF-Expand-Label, by OpenSSL. */
#include "net/tcp/traffic.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdint.h>
#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool psd_traffic_read(const char *line, const char *label, unsigned char out[PSD_TRAFFIC_SECRET])
{
    const char *digits = strrchr(line, ' ');
    size_t length = strlen(label);

    if (strncmp(line, label, length) != 0 || line[length] != ' ' ||
        strlen(digits + 1) != 2 * (size_t)PSD_TRAFFIC_SECRET)
        return false;
    digits++;
    for (size_t i = 0; i < PSD_TRAFFIC_SECRET; i++) {
        int high = digit(digits[2 * i]), low = digit(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool expand(const unsigned char secret[PSD_TRAFFIC_SECRET], char *label, unsigned char *out,
                   size_t size)
{
    static char digest[] = "SHA256", prefix[] = "tls13 ";
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    void *key = (void *)(uintptr_t)secret; /* nobody changes it */
    const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, sizeof digest - 1),
        OSSL_PARAM_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_KEY, key, PSD_TRAFFIC_SECRET),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_PREFIX, prefix, sizeof prefix - 1),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_LABEL, label, strlen(label)),
        OSSL_PARAM_END};
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, OSSL_KDF_NAME_TLS1_3_KDF, NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    bool done = context && EVP_KDF_derive(context, out, size, params) == 1;

    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done;
}

bool psd_traffic_keys(const unsigned char secret[PSD_TRAFFIC_SECRET],
                      unsigned char key[PSD_TRAFFIC_KEY], unsigned char iv[PSD_TRAFFIC_IV])
{
    static char of_key[] = "key", of_iv[] = "iv";

    return expand(secret, of_key, key, PSD_TRAFFIC_KEY) &&
           expand(secret, of_iv, iv, PSD_TRAFFIC_IV);
}

bool psd_traffic_next(const unsigned char secret[PSD_TRAFFIC_SECRET],
                      unsigned char next[PSD_TRAFFIC_SECRET])
{
    static char label[] = "traffic upd";

    return expand(secret, label, next, PSD_TRAFFIC_SECRET);
}
