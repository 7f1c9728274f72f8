/* tcp.c - does one stream carry as much as TCP does, and what does it cost?
 *
 * Sends frames of 512 KB over the loopback from one thread to another, from and to memory that is not in
 * the cache, and prints GB/s and the processor's seconds for a GB, both sides together: by plain
 * send and recv, by OpenSSL's own SSL_write and SSL_read with the same cipher, and by streams in clear
 * (sealed heads, CRC) and encrypted, stored and added, with the endpoint's loop as lane and with a lane of
 * its own; and encrypted by the kernel, where it can. The best of several rounds counts, since others may use
 * the machine. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/thread.h"
#include "net/tcp/kernel_tls.h"
#include "net/tcp/stream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MEMORY = 64 << 20, /* bytes that are sent and received into, again and again */
    FRAME = 512 << 10,
    WINDOW = 8, /* frames that are given to a stream at a time */
    ROUNDS = 7,
    JOB = 1
};

static const uint64_t volume = 400000000; /* bytes of a round */

static const char key[] = "0123456789abcdef0123456789abcdef";

struct side;

struct way {
    const char *name;
    void (*go)(struct side *sides); /* NULL: by streams, which the rest is about */
    bool is_openssl, in_clear, in_kernel, add, has_lane;
};

struct figures {
    double speed, cost; /* GB/s, s/GB */
};

/* One side of a round. */
struct side {
    const struct way *way;
    struct psd_loop *loop, *lane; /* owned */
    struct psd_stream *stream;
    struct psd_channel *channel;
    SSL *ssl; /* owned; NULL: not by OpenSSL alone */
    struct psd_net_refusals refusals;
    unsigned char *memory;
    struct psd_frame frames[WINDOW];
    uint64_t bytes; /* sent or received */
    int fd;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool has_ended;
};

static void check(bool is_fine, const char *what)
{
    if (is_fine)
        return;
    fprintf(stderr, "%s: %s\n", what, psd_error());
    exit(1); /* NOLINT(concurrency-mt-unsafe): nothing is to be saved */
}

static void end(struct side *side)
{
    pthread_mutex_lock(&side->lock);
    side->has_ended = true;
    pthread_cond_signal(&side->ended);
    pthread_mutex_unlock(&side->lock);
}

static void send_next(struct side *side, struct psd_frame *frame)
{
    if (side->bytes >= volume)
        return;
    frame->payload[0] = (struct psd_span){side->memory + side->bytes % MEMORY, FRAME};
    side->bytes += FRAME;
    psd_stream_send(side->stream, frame);
}

static void sent(void *user, struct psd_frame *frame)
{
    send_next(user, frame);
}

static psd_status place(void *user, const unsigned char *header, size_t bytes,
                        struct psd_place *place)
{
    struct side *side = user;

    (void)header;
    place->spans[0].data = side->memory + side->bytes % MEMORY;
    place->spans[0].bytes = bytes;
    place->add = side->way->add;
    return PSD_OK;
}

static psd_status arrived(void *user, const unsigned char *header)
{
    struct side *side = user;

    (void)header;
    side->bytes += FRAME;
    if (side->bytes >= volume)
        end(side);
    return PSD_OK;
}

static psd_status opened(void *user, uint16_t number, const unsigned char *header)
{
    (void)user, (void)number, (void)header;
    return PSD_OK;
}

static void broken(void *user, bool is_bye, const char *why)
{
    (void)user;
    if (is_bye)
        return;
    fprintf(stderr, "bench/tcp: a stream %s\n", why);
    _exit(1); /* its end would be waited for in vain */
}

static const struct psd_stream_handler handler = {place, arrived, sent, opened, broken};

static void connect_sockets(int fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    check(bind(listener, (struct sockaddr *)&address, size) == 0, "bind");
    check(listen(listener, 1) == 0, "listen");
    check(getsockname(listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(fds[0], (struct sockaddr *)&address, size) == 0, "connect");
    fds[1] = accept(listener, NULL, NULL);
    close(listener);
}

static void send_plainly(void *arg)
{
    struct side *side = arg;

    for (; side->bytes < volume; side->bytes += FRAME) {
        for (size_t at = 0; at < FRAME;) {
            ssize_t count = send(side->fd, side->memory + side->bytes % MEMORY + at, FRAME - at, 0);
            check(count > 0, "send");
            at += (size_t)count;
        }
    }
}

static void receive_plainly(struct side *side)
{
    while (side->bytes < volume) {
        ssize_t count =
            recv(side->fd, side->memory + side->bytes % MEMORY, FRAME - side->bytes % FRAME, 0);
        check(count > 0, "recv");
        side->bytes += (uint64_t)count;
    }
}

/* One thread sends all, and this one receives it. */
static void go_by_hand(struct side sides[2], void (*send_all)(void *arg),
                       void (*receive_all)(struct side *side))
{
    pthread_t thread;

    check(psd_thread_start("sender", send_all, &sides[0], &thread) == PSD_OK, "thread");
    receive_all(&sides[1]);
    pthread_join(thread, NULL);
}

static void go_plainly(struct side sides[2])
{
    go_by_hand(sides, send_plainly, receive_plainly);
}

/* --- by OpenSSL alone ----------------------------------------------------------------------------- */

static unsigned give_key(unsigned char *out, unsigned most)
{
    check(most >= sizeof key, "key");
    memcpy(out, key, sizeof key);
    return sizeof key;
}

static unsigned client_key(SSL *ssl, const char *hint, char *name, unsigned name_most,
                           unsigned char *out, unsigned most)
{
    (void)ssl, (void)hint;
    snprintf(name, name_most, "bench");
    return give_key(out, most);
}

static unsigned server_key(SSL *ssl, const char *name, unsigned char *out, unsigned most)
{
    (void)ssl, (void)name;
    return give_key(out, most);
}

static void connect_by_openssl(void *arg)
{
    struct side *side = arg;

    check(SSL_connect(side->ssl) == 1, "SSL_connect");
}

static void shake_by_openssl(struct side sides[2])
{
    SSL_CTX *context = SSL_CTX_new(TLS_method());
    pthread_t thread;

    check(context && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
              SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1,
          "SSL_CTX_new");
    SSL_CTX_set_psk_client_callback(context, client_key);
    SSL_CTX_set_psk_server_callback(context, server_key);
    for (int i = 0; i < 2; i++) {
        sides[i].ssl = SSL_new(context);
        check(sides[i].ssl && SSL_set_fd(sides[i].ssl, sides[i].fd) == 1, "SSL_new");
    }
    SSL_CTX_free(context);
    check(psd_thread_start("client", connect_by_openssl, &sides[0], &thread) == PSD_OK, "thread");
    check(SSL_accept(sides[1].ssl) == 1, "SSL_accept");
    pthread_join(thread, NULL);
}

static void send_by_openssl(void *arg)
{
    struct side *side = arg;

    for (; side->bytes < volume; side->bytes += FRAME)
        check(SSL_write(side->ssl, side->memory + side->bytes % MEMORY, FRAME) == FRAME,
              "SSL_write");
}

static void receive_by_openssl(struct side *side)
{
    while (side->bytes < volume) {
        int count = SSL_read(side->ssl, side->memory + side->bytes % MEMORY,
                             (int)(FRAME - side->bytes % FRAME));
        check(count > 0, "SSL_read");
        side->bytes += (uint64_t)count;
    }
}

static void go_by_openssl(struct side sides[2])
{
    go_by_hand(sides, send_by_openssl, receive_by_openssl);
}

/* --- by streams ----------------------------------------------------------------------------------- */

static void open_side(void *arg)
{
    struct side *side = arg;
    struct psd_stream_options options = {.channel = side->channel,
                                         .loop = side->loop,
                                         .lane = side->lane ? side->lane : side->loop,
                                         .handler = &handler,
                                         .user = side,
                                         .job = JOB,
                                         .refusals = &side->refusals};
    unsigned char hello[PSD_FRAME_HEADER] = "hello";

    check(psd_stream_create(&options, &side->stream) == PSD_OK, "stream");
    psd_stream_open(side->stream, hello);
}

static void send_first(void *arg)
{
    struct side *side = arg;

    for (size_t i = 0; i < WINDOW; i++)
        send_next(side, &side->frames[i]);
}

static void close_side(void *arg)
{
    struct side *side = arg;

    psd_stream_close(side->stream);
}

static void shake_hands(const struct psd_trust *trust, struct side sides[2])
{
    unsigned wants[2] = {1, 1};

    for (int i = 0; i < 2; i++) {
        fcntl(sides[i].fd, F_SETFL, O_NONBLOCK);
        check(psd_channel_create(trust, sides[i].fd, i == 1, &sides[i].channel) == PSD_OK,
              "channel");
    }
    while (wants[0] || wants[1]) {
        for (int i = 0; i < 2; i++)
            check(psd_channel_shake(sides[i].channel, &wants[i]) == PSD_OK, "handshake");
    }
}

static void start_side(struct side *side)
{
    check(psd_loop_create(&side->loop) == PSD_OK && psd_loop_start(side->loop) == PSD_OK, "loop");
    if (side->way->has_lane)
        check(psd_loop_create(&side->lane) == PSD_OK && psd_loop_start(side->lane) == PSD_OK,
              "lane");
    psd_loop_call(side->loop, open_side, side);
}

static void wait_for(struct side *side)
{
    pthread_mutex_lock(&side->lock);
    while (!side->has_ended)
        pthread_cond_wait(&side->ended, &side->lock);
    pthread_mutex_unlock(&side->lock);
}

static void go(struct side sides[2])
{
    psd_loop_call(sides[0].loop, send_first, &sides[0]);
    wait_for(&sides[1]);
}

static void stop_side(struct side *side)
{
    psd_loop_call(side->loop, close_side, side);
    psd_loop_destroy(side->loop);
    psd_loop_destroy(side->lane);
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void close_by_hand(struct side *side)
{
    SSL_free(side->ssl);
    close(side->fd);
}

static struct figures run(const struct way *way, unsigned char *const memory[2])
{
    struct side sides[2];
    struct psd_trust *trust = NULL;
    int fds[2];

    memset(sides, 0, sizeof sides);
    connect_sockets(fds);
    for (int i = 0; i < 2; i++) {
        sides[i].way = way;
        sides[i].fd = fds[i];
        sides[i].memory = memory[i];
        pthread_mutex_init(&sides[i].lock, NULL);
        pthread_cond_init(&sides[i].ended, NULL);
    }
    if (way->is_openssl)
        shake_by_openssl(sides);
    if (!way->go) {
        check(psd_trust_create(key, sizeof key, JOB, way->in_clear, &trust) == PSD_OK, "key");
        if (way->in_kernel)
            psd_trust_use_kernel(trust);
        shake_hands(trust, sides);
        start_side(&sides[0]);
        start_side(&sides[1]);
    }
    uint64_t start = psd_clock_now();
    double cpu = cpu_seconds();
    (way->go ? way->go : go)(sides);
    double seconds = (double)(psd_clock_now() - start) / 1e9, gigabytes = (double)volume / 1e9;
    struct figures figures = {gigabytes / seconds, (cpu_seconds() - cpu) / gigabytes};
    for (int i = 0; i < 2; i++)
        (way->go ? close_by_hand : stop_side)(&sides[i]);
    psd_trust_destroy(trust);
    return figures;
}

static unsigned char *new_memory(void)
{
    unsigned char *memory = psd_alloc_aligned(2 << 20, MEMORY);

    check(memory != NULL, "memory");
    madvise(memory, MEMORY, MADV_HUGEPAGE);
    memset(memory, 0, MEMORY);
    return memory;
}

static const struct way ways[] = {
    {.name = "plain send and recv", .go = go_plainly},
    {.name = "OpenSSL alone", .go = go_by_openssl, .is_openssl = true},
    {.name = "in clear, stored", .in_clear = true},
    {.name = "in clear, added", .in_clear = true, .add = true},
    {.name = "encrypted, stored"},
    {.name = "encrypted, added", .add = true},
    {.name = "in clear, stored, lane", .in_clear = true, .has_lane = true},
    {.name = "in clear, added, lane", .in_clear = true, .add = true, .has_lane = true},
    {.name = "by the kernel, stored", .in_kernel = true},
    {.name = "by the kernel, added", .in_kernel = true, .add = true},
};

enum { WAYS = sizeof ways / sizeof *ways, BY_KERNEL = 2 };

/* All ways in turn, round by round, so that what others do meets all of them. */
static void measure(int count, struct figures best[WAYS])
{
    unsigned char *memory[2] = {new_memory(), new_memory()};

    for (int i = 0; i < ROUNDS * count; i++) {
        struct figures now = run(&ways[i % count], memory), *kept = &best[i % count];
        if (now.speed > kept->speed)
            kept->speed = now.speed;
        if (kept->cost == 0 || now.cost < kept->cost)
            kept->cost = now.cost;
    }
    psd_alloc_free(memory[0]);
    psd_alloc_free(memory[1]);
}

int main(void)
{
    struct figures best[WAYS] = {{0, 0}};
    int count = psd_kernel_tls_is_there() ? WAYS : WAYS - BY_KERNEL;

    measure(count, best);
    printf("loopback, frames of %d KB; best of %d rounds\n\n", FRAME >> 10, ROUNDS);
    printf("way                        GB/s   of plain   CPU s/GB   of plain\n");
    for (int i = 0; i < count; i++)
        printf("%-24s %6.2f %9.0f%% %10.3f %9.0f%%\n", ways[i].name, best[i].speed,
               100 * best[i].speed / best[0].speed, best[i].cost,
               100 * best[i].cost / best[0].cost);
}
