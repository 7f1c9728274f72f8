/* trust.c - the job's key, and OpenSSL told to believe nothing else. */
#include "base/alloc.h"
#include "base/status.h"
#include "net/tcp/kernel_tls.h"
#include "net/tcp/socket.h"
#include "net/tcp/trust_state.h"
#include "net/transport.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <string.h>

enum { KEY_LEAST = 16, PSK = 32 }; /* bytes */

static const unsigned char cipher[] = {0x13, 0x01}; /* TLS_AES_128_GCM_SHA256 */

static psd_status out_of_memory(void)
{
    return psd_fail(PSD_ENOMEM, "OpenSSL has no memory for a connection");
}

/* The PSK of the connection that `identity` names. */
static bool derive(const struct psd_trust *trust, const unsigned char identity[PSD_IDENTITY],
                   unsigned char out[PSK])
{
    static char digest[] = "SHA256", label[] = "poseidon psk";
    unsigned char info[sizeof label + PSD_IDENTITY];
    void *key = (void *)(uintptr_t)psd_secret_data(trust->key); /* nobody changes it */
    const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, sizeof digest - 1),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_KEY, key, psd_secret_size(trust->key)),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_INFO, info, sizeof info), OSSL_PARAM_END};
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;

    memcpy(info, label, sizeof label);
    memcpy(info + sizeof label, identity, PSD_IDENTITY);
    bool done = context && EVP_KDF_derive(context, out, PSK, params) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done;
}

/* What OpenSSL wants to have a PSK in. */
static SSL_SESSION *new_session(SSL *ssl, const struct psd_trust_claim *claim)
{
    unsigned char psk[PSK];
    SSL_SESSION *session = SSL_SESSION_new();
    const SSL_CIPHER *its = SSL_CIPHER_find(ssl, cipher);
    bool done = session && its && derive(claim->trust, claim->identity, psk) &&
                SSL_SESSION_set1_master_key(session, psk, sizeof psk) &&
                SSL_SESSION_set_cipher(session, its) &&
                SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION);

    OPENSSL_cleanse(psk, sizeof psk);
    if (done)
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

/* The client's: OpenSSL asks for it once, or twice if the server wants another group. */
static int use_session(SSL *ssl, const EVP_MD *digest, const unsigned char **id, size_t *size,
                       SSL_SESSION **session)
{
    const struct psd_trust_claim *claim = SSL_get_app_data(ssl);

    (void)digest; /* there is only one cipher, and this is its */
    *id = claim->identity;
    *size = sizeof claim->identity;
    *session = new_session(ssl, claim);
    return *session != NULL;
}

/* The server's: no session is no agreement, as there is no certificate either. */
static int find_session(SSL *ssl, const unsigned char *id, size_t size, SSL_SESSION **session)
{
    struct psd_trust_claim *claim = SSL_get_app_data(ssl);

    *session = NULL;
    claim->doubt = psd_identity_compare(claim->trust->identity, id, size);
    if (claim->doubt != PSD_IDENTITY_SAME)
        return 1;
    memcpy(claim->identity, id, PSD_IDENTITY);
    *session = new_session(ssl, claim);
    return *session != NULL;
}

/* Only what is wanted, and nothing that a later version of OpenSSL may find useful. */
static bool set_context(SSL_CTX *context)
{
    static char groups[] = "X25519:P-256"; /* all clients send a share of the first */

    SSL_CTX_set_options(context,
                        SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_clear_options(context, SSL_OP_ENABLE_MIDDLEBOX_COMPAT | SSL_OP_ALLOW_NO_DHE_KEX);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_cert_list(context, 1);
    SSL_CTX_set_psk_use_session_callback(context, use_session);
    SSL_CTX_set_psk_find_session_callback(context, find_session);
    return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1 &&
           SSL_CTX_set1_groups_list(context, groups) == 1 &&
           SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_max_early_data(context, 0) == 1;
}

/* Somebody has built or configured OpenSSL without what we need. */
static psd_status cannot_be_set(void)
{
    if (ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE)
        return out_of_memory();
    return psd_fail(PSD_ENOSUP, "this OpenSSL cannot speak TLS 1.3 with AES-128-GCM, X25519 and a "
                                "shared key: see `openssl ciphers -tls1_3 -s`");
}

static psd_status fill(struct psd_trust *trust, const void *key, size_t size)
{
    PSD_TRY(psd_secret_create(key, size, &trust->key));
    trust->method = psd_socket_method();
    trust->context = SSL_CTX_new(TLS_method());
    if (!trust->method || !trust->context)
        return out_of_memory();
    return set_context(trust->context) ? PSD_OK : cannot_be_set();
}

psd_status psd_trust_create(const void *key, size_t size, uint64_t job, bool in_clear,
                            struct psd_trust **out)
{
    if (size < KEY_LEAST || size > PSD_TRANSPORT_KEY)
        return psd_fail(PSD_ECONFIG, "a job's key has %d to %d bytes, not %zu", KEY_LEAST,
                        PSD_TRANSPORT_KEY, size);
    struct psd_trust *trust = psd_alloc_zero(1, sizeof *trust);
    if (!trust)
        return PSD_ENOMEM;
    trust->in_clear = in_clear;
    psd_identity_write(job, in_clear, trust->identity);
    /* A lane may still run while the process exits: OpenSSL is not taken away from it. */
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    ERR_clear_error();
    psd_status status = fill(trust, key, size);
    if (status == PSD_OK)
        *out = trust;
    else
        psd_trust_destroy(trust);
    return status;
}

/* OpenSSL tells its secrets, line by line, whoever wants to log them. */
static void note_secret(const SSL *ssl, const char *line)
{
    static const char *const labels[] = {"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"};
    struct psd_trust_claim *claim = SSL_get_app_data(ssl);

    for (int i = 0; i < 2; i++)
        claim->has_secret[i] |= psd_traffic_read(line, labels[i], claim->secrets[i]);
}

void psd_trust_use_kernel(struct psd_trust *trust)
{
    trust->in_kernel = !trust->in_clear && psd_kernel_tls_is_there();
    if (trust->in_kernel)
        SSL_CTX_set_keylog_callback(trust->context, note_secret);
}

void psd_trust_destroy(struct psd_trust *trust)
{
    if (!trust)
        return;
    SSL_CTX_free(trust->context);
    BIO_meth_free(trust->method);
    psd_secret_destroy(trust->key);
    psd_alloc_free(trust);
}

/* A client would take any certificate unless it verifies them; it knows no authority, so it takes none. */
static void set_side(SSL *ssl, bool is_server)
{
    if (is_server) {
        SSL_set_accept_state(ssl);
    } else {
        SSL_set_connect_state(ssl);
        SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    }
}

psd_status psd_trust_begin(const struct psd_trust *trust, bool is_server,
                           struct psd_trust_claim *claim, SSL **out)
{
    claim->trust = trust;
    memcpy(claim->identity, trust->identity, PSD_IDENTITY);
    if (!is_server &&
        RAND_bytes(claim->identity + PSD_IDENTITY - PSD_IDENTITY_RANDOM, PSD_IDENTITY_RANDOM) != 1)
        return psd_fail(PSD_ENOSUP, "OpenSSL has no random numbers");
    SSL *ssl = SSL_new(trust->context);
    if (!ssl)
        return out_of_memory();
    if (!SSL_set_app_data(ssl, claim)) {
        SSL_free(ssl);
        return out_of_memory();
    }
    set_side(ssl, is_server);
    *out = ssl;
    return PSD_OK;
}

psd_status psd_trust_end(SSL *ssl)
{
    static const unsigned char nothing[PSK];

    if (!SSL_session_reused(ssl)) /* so OpenSSL calls a handshake by PSK */
        return psd_fail(PSD_EPEER, "has not proven to have the job's key");
    SSL_SESSION_set1_master_key(SSL_get_session(ssl), nothing, sizeof nothing);
    return PSD_OK;
}
