/* channel_strange_test.c - those who do not have the key, and those who have no idea: all are refused, each
 * hears why as far as can be known, and nobody makes a server keep much. */
#include "base/alloc.h"
#include "base/loop.h"
#include "channel_pair.h"
#include "net/tcp/channel_state.h"

#include <malloc.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/x509.h>

static const char other_key[] = "fedcba9876543210fedcba9876543210";

static void who_differs_is_refused_and_both_hear_why(void)
{
#define SAME    "give all processes the same net.encrypt"
#define REFUSES "refuses us: it belongs to another job, or only one of us encrypts: " SAME
    static const struct {
        struct side client, server;
        const char *client_hears, *server_hears;
    } cases[] = {
        {{.key = other_key}, {.job = 0}, "has another key", "has another key"},
        {{.job = 0}, {.key = other_key}, "has another key", "has another key"},
        {{.key = other_key, .in_clear = true},
         {.in_clear = true},
         "has another key",
         "has another key"},
        {{.job = 1}, {.job = 2}, REFUSES, "belongs to another job"},
        {{.in_clear = true}, {.job = 0}, REFUSES, "speaks in clear, and we encrypt: " SAME},
        {{.job = 0}, {.in_clear = true}, REFUSES, "encrypts, and we speak in clear: " SAME},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair pair;
        pair_init(&pair, cases[i].client, cases[i].server);
        pair_shake(&pair);
        CHECK_STATUS(PSD_EPEER, pair.status[0]);
        CHECK_STATUS(PSD_EPEER, pair.status[1]);
        CHECK_TEXT(cases[i].client_hears, pair.why[0]);
        CHECK_TEXT(cases[i].server_hears, pair.why[1]);
        pair_fini(&pair);
    }
}

/* A server of ours, and the stranger's end of its socket. */
struct host {
    struct psd_trust *trust;
    struct psd_channel *channel;
    int fd;
};

static void host_init(struct host *host)
{
    int fds[2];

    if (!host->trust)
        host->trust = new_trust((struct side){.job = 5});
    pair_make_sockets(fds);
    CHECK_OK(psd_channel_create(host->trust, fds[1], true, &host->channel));
    host->fd = fds[0];
}

static void host_fini(struct host *host)
{
    psd_channel_destroy(host->channel);
    close(host->fd);
}

static psd_status host_hear(struct host *host, const void *bytes, size_t count)
{
    unsigned wants = 0;

    CHECK(send(host->fd, bytes, count, MSG_NOSIGNAL) == (ssize_t)count);
    psd_status status = psd_channel_shake(host->channel, &wants);
    CHECK(status != PSD_OK || wants == PSD_LOOP_READ);
    return status;
}

static void who_does_not_speak_tls_is_refused(void)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
    struct host host = {.trust = NULL};

    host_init(&host);
    CHECK_STATUS(PSD_EPEER, host_hear(&host, request, sizeof request - 1));
    CHECK_TEXT("is no Poseidon: it does not begin with a handshake of TLS", psd_error());
    host_fini(&host);
    psd_trust_destroy(host.trust);
}

static void who_leaves_in_the_middle_is_gone(void)
{
    struct host host = {.trust = NULL};
    unsigned wants;

    host_init(&host);
    CHECK_OK(host_hear(&host, "\x16\x03", 2));
    shutdown(host.fd, SHUT_WR);
    CHECK_STATUS(PSD_EPEER, psd_channel_shake(host.channel, &wants));
    CHECK_TEXT("has closed the connection", psd_error());
    host_fini(&host);
    psd_trust_destroy(host.trust);
}

/* Lets a client of OpenSSL's own, set up by `set`, try its luck: it is refused at its first message. */
static void try_client(void (*set)(SSL_CTX *context))
{
    struct host host = {.trust = NULL};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    unsigned wants = PSD_LOOP_READ;

    set(context);
    host_init(&host);
    SSL *ssl = SSL_new(context);
    CHECK(SSL_set_fd(ssl, host.fd) == 1);
    CHECK(SSL_connect(ssl) != 1);
    CHECK_STATUS(PSD_EPEER, psd_channel_shake(host.channel, &wants));
    CHECK(strstr(psd_error(), "is no Poseidon, or one of another version (") == psd_error());
    SSL_free(ssl);
    SSL_CTX_free(context);
    host_fini(&host);
    psd_trust_destroy(host.trust);
}

static void set_nothing(SSL_CTX *context)
{
    (void)context;
}

static void set_old(SSL_CTX *context)
{
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
}

/* Its key share is of a group that we do not know, though it knows ours. */
static void set_other_share(SSL_CTX *context)
{
    static char groups[] = "P-384:X25519";

    CHECK(SSL_CTX_set1_groups_list(context, groups) == 1);
}

static void who_has_no_shared_key_is_refused(void)
{
    try_client(set_nothing);
    try_client(set_old);
    try_client(set_other_share);
}

/* --- docs/wire.md, word for word: what a client computes that has never seen our code ------------- */

enum { IDENTITY = 34, PSK = 32, SEALS = 64 };

/* Of encrypted, or clear, streams of job 5. The random bytes are any. */
static void write_identity(bool in_clear, unsigned char out[IDENTITY])
{
    static const unsigned char start[] = {'p', 'o', 's', 'e', 'i', 'd', 'o', 'n', 1};

    memset(out, 0, IDENTITY);
    memcpy(out, start, sizeof start);
    out[9] = !in_clear;
    out[10] = 5;
    memset(out + 18, 0x5a, 16);
}

/* HKDF-SHA-256 (RFC 5869) without a salt, of which the first block is enough. */
static void derive(const char *key, const unsigned char *info, size_t size, unsigned char out[PSK])
{
    static const unsigned char no_salt[32];
    unsigned char secret[32], block[100];

    CHECK(size < sizeof block);
    memcpy(block, info, size);
    block[size] = 1;
    CHECK(HMAC(EVP_sha256(), no_salt, sizeof no_salt, (const unsigned char *)key, strlen(key),
               secret, NULL));
    CHECK(HMAC(EVP_sha256(), secret, sizeof secret, block, size + 1, out, NULL));
}

/* What goes before the identity in the info. */
struct label {
    const char *text;
    size_t size;
};

static const struct label right = {"poseidon psk", 13}; /* with its zero byte */

/* A client of OpenSSL's own that knows a key. */
struct outsider {
    const char *key;
    struct label label;
    bool in_clear;
    unsigned char identity[IDENTITY];
};

static int use_psk(SSL *ssl, const EVP_MD *digest, const unsigned char **id, size_t *size,
                   SSL_SESSION **session)
{
    static const unsigned char cipher[] = {0x13, 0x01}; /* TLS_AES_128_GCM_SHA256 */
    struct outsider *outsider = SSL_get_app_data(ssl);
    unsigned char info[64], psk[PSK];

    (void)digest;
    write_identity(outsider->in_clear, outsider->identity);
    memcpy(info, outsider->label.text, outsider->label.size);
    memcpy(info + outsider->label.size, outsider->identity, IDENTITY);
    derive(outsider->key, info, outsider->label.size + IDENTITY, psk);
    *session = SSL_SESSION_new();
    CHECK(SSL_SESSION_set1_master_key(*session, psk, sizeof psk) == 1);
    CHECK(SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, cipher)) == 1);
    CHECK(SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION) == 1);
    *id = outsider->identity;
    *size = IDENTITY;
    return 1;
}

static SSL *new_outsider(struct outsider *outsider, int fd)
{
    static char groups[] = "X25519";
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    CHECK(SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1);
    CHECK(SSL_CTX_set1_groups_list(context, groups) == 1);
    CHECK(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1);
    SSL_CTX_set_psk_use_session_callback(context, use_psk);
    SSL *ssl = SSL_new(context);
    SSL_CTX_free(context); /* the connection has it */
    CHECK(SSL_set_app_data(ssl, outsider) == 1 && SSL_set_fd(ssl, fd) == 1);
    return ssl;
}

/* Lets it shake hands with a server of ours, whose status is returned. */
static psd_status shake_with(SSL *ssl, struct host *host)
{
    unsigned wants = PSD_LOOP_READ;
    psd_status status = PSD_OK;
    bool is_in = false;

    for (int turn = 0; turn < 6 && status == PSD_OK && wants; turn++) {
        is_in = SSL_connect(ssl) == 1;
        status = psd_channel_shake(host->channel, &wants);
    }
    CHECK(is_in == (status == PSD_OK && !wants));
    return status;
}

/* In clear both also have the same keys for their seals: the client's, then the server's. */
static void check_seals(SSL *ssl, struct host *host)
{
    static const char label[] = "EXPORTER-poseidon-seal";
    unsigned char seals[SEALS], sending[PSD_CHANNEL_KEY], receiving[PSD_CHANNEL_KEY];

    CHECK(SSL_export_keying_material(ssl, seals, SEALS, label, strlen(label), NULL, 0, 0) == 1);
    CHECK_OK(psd_channel_keys(host->channel, sending, receiving));
    CHECK(memcmp(seals, receiving, SEALS / 2) == 0);
    CHECK(memcmp(seals + SEALS / 2, sending, SEALS / 2) == 0);
}

static void who_computes_the_keys_as_it_is_written_gets_in(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct outsider outsider = {.key = pair_key, .label = right, .in_clear = in_clear};
        struct host host = {.trust = new_trust((struct side){.job = 5, .in_clear = in_clear})};
        host_init(&host);
        SSL *ssl = new_outsider(&outsider, host.fd);
        CHECK_OK(shake_with(ssl, &host));
        if (in_clear)
            check_seals(ssl, &host);
        SSL_free(ssl);
        host_fini(&host);
        psd_trust_destroy(host.trust);
    }
}

static void who_computes_them_in_another_way_does_not(void)
{
    static const struct outsider cases[] = {
        {.key = pair_key, .label = {"poseidon key", 13}},
        {.key = pair_key, .label = {"poseidon psk", 12}}, /* without the zero byte */
        {.key = pair_key, .label = {"", 0}},
        {.key = other_key, .label = {"poseidon psk", 13}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outsider outsider = cases[i];
        struct host host = {.trust = NULL};
        host_init(&host);
        SSL *ssl = new_outsider(&outsider, host.fd);
        CHECK_STATUS(PSD_EPEER, shake_with(ssl, &host));
        CHECK_TEXT("has another key", psd_error());
        SSL_free(ssl);
        host_fini(&host);
        psd_trust_destroy(host.trust);
    }
}

/* --- servers, and what has been recorded ------------------------------------------------------------ */

/* A server with a certificate of its own making. */
static SSL_CTX *new_certified(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();

    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    CHECK(X509_set_pubkey(certificate, key) == 1);
    CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
    CHECK(SSL_CTX_use_certificate(context, certificate) == 1);
    CHECK(SSL_CTX_use_PrivateKey(context, key) == 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}

static void a_server_with_a_certificate_instead_of_the_key_is_not_believed(void)
{
    struct psd_trust *trust = new_trust((struct side){.job = 5});
    struct psd_channel *client = NULL;
    SSL_CTX *context = new_certified();
    SSL *ssl = SSL_new(context);
    unsigned wants = 1;
    psd_status status = PSD_OK;
    int fds[2];

    pair_make_sockets(fds);
    CHECK_OK(psd_channel_create(trust, fds[0], false, &client));
    CHECK(SSL_set_fd(ssl, fds[1]) == 1);
    for (int turn = 0; turn < 6 && status == PSD_OK; turn++) {
        status = psd_channel_shake(client, &wants);
        CHECK(wants || status != PSD_OK);
        CHECK(SSL_accept(ssl) != 1);
    }
    CHECK_STATUS(PSD_EPEER, status);
    psd_channel_destroy(client);
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fds[1]);
    psd_trust_destroy(trust);
}

/* The first record of a client that has the key. */
static size_t record_hello(struct side side, unsigned char out[PSD_HELLO])
{
    struct pair pair;
    int far[2];

    pair_init_apart(&pair, side, side, far);
    pair_shake_one(&pair, 0);
    ssize_t count = recv(far[0], out, PSD_HELLO, 0);
    CHECK(count > 100 && count < PSD_HELLO / 2);
    pair_fini(&pair);
    close(far[0]);
    close(far[1]);
    return (size_t)count;
}

static void a_recorded_hello_leads_nowhere(void)
{
    unsigned char hello[PSD_HELLO], garbage[600] = {23, 3, 3, 0, 53};
    size_t count = record_hello((struct side){.job = 5}, hello);
    struct host host = {.trust = NULL};

    host_init(&host);
    CHECK_OK(host_hear(&host, hello, count)); /* it was made by somebody with the key */
    CHECK_STATUS(PSD_EPEER, host_hear(&host, garbage, sizeof garbage));
    host_fini(&host);
    psd_trust_destroy(host.trust);
}

/* OpenSSL's memory, counted; all of the process from its first allocation on. */
static size_t in_use, most_in_use, largest;

static void *counted(void *memory)
{
    size_t size = memory ? malloc_usable_size(memory) + sizeof(size_t) : 0;

    in_use += size;
    largest = size > largest ? size : largest;
    most_in_use = in_use > most_in_use ? in_use : most_in_use;
    return memory;
}

static void uncount(void *memory)
{
    in_use -= memory ? malloc_usable_size(memory) + sizeof(size_t) : 0;
}

static void *count_alloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return counted(malloc(size));
}

static void *count_resize(void *memory, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    uncount(memory);
    return counted(realloc(memory, size));
}

static void count_free(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    uncount(memory);
    free(memory);
}

enum { STRANGERS = 16 };

/* Sixteen who have got as far as one can without the key: by a hello that was recorded. */
static void sixteen_strangers_take_less_than_one_megabyte(void)
{
    unsigned char hello[PSD_HELLO];
    struct host hosts[STRANGERS] = {{.trust = NULL}};

    CHECK(CRYPTO_set_mem_functions(count_alloc, count_resize, count_free) == 1);
    size_t count = record_hello((struct side){.job = 5}, hello);
    hosts[0].trust = new_trust((struct side){.job = 5});
    size_t before = in_use;
    most_in_use = in_use;
    for (int i = 0; i < STRANGERS; i++) {
        hosts[i].trust = hosts[0].trust;
        host_init(&hosts[i]);
        CHECK_OK(host_hear(&hosts[i], hello, count));
    }
    size_t most = most_in_use - before + STRANGERS * sizeof(struct psd_channel);
    fprintf(stderr, "    %zu KB at most\n", most >> 10);
    CHECK(in_use > before && most < 1 << 20);
    for (int i = 0; i < STRANGERS; i++)
        host_fini(&hosts[i]);
    CHECK(in_use - before < 16 << 10);
    psd_trust_destroy(hosts[0].trust);
}

static void move_some(struct pair *pair)
{
    static char bytes[50000];
    struct iovec span = {.iov_base = bytes, .iov_len = sizeof bytes};
    size_t count = 0;

    CHECK_OK(psd_channel_write(pair->channel[0], &span, 1, &count));
    span.iov_len = count;
    CHECK_OK(psd_channel_read(pair->channel[1], &span, 1, &count));
    CHECK(count == span.iov_len);
}

/* Besides the 40 bytes that OpenSSL takes for the time of writing a record. */
static void a_connection_in_use_allocates_nothing(void)
{
    struct pair pair;

    CHECK(CRYPTO_set_mem_functions(count_alloc, count_resize, count_free) == 1);
    pair_connect(&pair, false);
    move_some(&pair);
    size_t before = in_use;
    largest = 0;
    psd_alloc_fail_at(0);
    for (int i = 0; i < 100; i++)
        move_some(&pair);
    CHECK(!psd_alloc_fail_at(-1));
    CHECK(in_use == before && largest <= 64);
    pair_fini(&pair);
}

int main(int argc, char **argv)
{
    RUN(who_differs_is_refused_and_both_hear_why)
    RUN(who_does_not_speak_tls_is_refused)
    RUN(who_leaves_in_the_middle_is_gone)
    RUN(who_has_no_shared_key_is_refused)
    RUN(who_computes_the_keys_as_it_is_written_gets_in)
    RUN(who_computes_them_in_another_way_does_not)
    RUN(a_server_with_a_certificate_instead_of_the_key_is_not_believed)
    RUN(a_recorded_hello_leads_nowhere)
    RUN(sixteen_strangers_take_less_than_one_megabyte)
    RUN(a_connection_in_use_allocates_nothing)
}
