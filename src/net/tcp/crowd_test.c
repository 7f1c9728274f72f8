/* crowd_test.c - many strangers at a port, at once and one after the other: an endpoint that has a connection
 * goes on all the while as if nobody had come, and they cost it less than a megabyte. */
#include "net/tcp/channel_state.h"
#include "net/tcp/opening.h"
#include "net/tcp/seal.h"
#include "net_strangers.h"
#include "strange_bytes.h"

#include <malloc.h>
#include <stdatomic.h>

enum {
    CROWD = 40,
    STRANGERS = TEST_IS_SANITIZED ? 300 : 3000,
    MEMBERS = TEST_IS_SANITIZED ? 100 : 1000,
    FRAMES = STRANGERS / 30 /* of a member at least, while all these come */
};

/* Bytes in use by all threads, which then share one arena; a sanitizer shows none. */
static size_t memory(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void sit_in_one_arena(struct seat *seat, const char *name)
{
    int done = mallopt(M_ARENA_MAX, 1); /* NOLINT(concurrency-mt-unsafe): no other thread yet */

    CHECK(done == 1 || TEST_IS_SANITIZED);
    sit(seat, name);
}

/* The first record of somebody who has the key. */
static size_t record_hello(bool in_clear, unsigned char out[PSD_HELLO])
{
    struct psd_trust *trust = new_trust(in_clear);
    struct psd_channel *channel = NULL;
    unsigned wants = 0;
    int fds[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    CHECK_OK(psd_channel_create(trust, fds[0], false, &channel));
    CHECK_OK(psd_channel_shake(channel, &wants));
    ssize_t count = recv(fds[1], out, PSD_HELLO, 0);
    CHECK(count > 100 && count < PSD_HELLO);
    psd_channel_destroy(channel);
    psd_trust_destroy(trust);
    close(fds[1]);
    return (size_t)count;
}

/* --- at once ------------------------------------------------------------------------------------ */

/* The longest record that is waited for, but for its last byte. */
static size_t begin_hello(unsigned char out[PSD_HELLO])
{
    static const unsigned char head[] = {22, 3, 1, 0x03, 0xfb, 1, 0, 0x03, 0xf7, 3, 3};

    memset(out, 0, PSD_HELLO);
    memcpy(out, head, sizeof head);
    return PSD_HELLO - 1;
}

/* As many as are let in wait for the rest: of their record, or of their handshake. */
static bool is_full(const struct seat *seat)
{
    unsigned count = 0;

    PSD_LIST_EACH (link, &seat->endpoint->callers) {
        const struct psd_channel *channel =
            PSD_CONTAINER_OF(link, struct psd_tcp_leg, link)->channel;
        count += channel->ssl || channel->socket.hello.count == PSD_HELLO - 1;
    }
    return count == PSD_TCP_CALLERS;
}

static bool is_empty(const struct seat *seat)
{
    return seat->endpoint->calling == 0;
}

static void hold_a_crowd(const unsigned char *bytes, size_t count, size_t least)
{
    struct seat seat = {.config = &patient};
    int crowd[CROWD];

    sit_in_one_arena(&seat, "a");
    size_t before = memory();
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = call(&seat);
        CHECK(send(crowd[i], bytes, count, 0) == (ssize_t)count);
    }
    wait_until(&seat, is_full);
    size_t after = memory();
    fprintf(stderr, "    %zu KB, %zu before\n", after >> 10, before >> 10);
    CHECK(TEST_IS_SANITIZED || after > before + PSD_TCP_CALLERS * least);
    CHECK(after < before + 1000000);
    wait_until(&seat, is_full); /* nobody else has been let in */
    for (size_t i = 0; i < CROWD; i++)
        close(crowd[i]);
    wait_until(&seat, is_empty);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
}

static void sixteen_that_do_not_end_their_hello_cost_less_than_a_megabyte(void)
{
    unsigned char hello[PSD_HELLO];
    size_t count = begin_hello(hello);

    hold_a_crowd(hello, count, PSD_HELLO);
}

/* As far as one can get without the key: there OpenSSL has taken its memory. */
static void sixteen_with_a_recorded_hello_cost_less_than_a_megabyte(void)
{
    unsigned char hello[PSD_HELLO];
    size_t count = record_hello(false, hello);

    hold_a_crowd(hello, count, 10 << 10);
}

/* --- one after the other -------------------------------------------------------------------------- */

static void send_strange_hello(const struct seat *seat, bool in_clear, uint64_t seed)
{
    unsigned char bytes[PSD_HELLO + 1];
    size_t count = 0;
    int fd = call(seat);

    if (seed % 2)
        count = strange_hello(bytes, seed);
    else
        count = strange_mutate(bytes, record_hello(in_clear, bytes), seed);
    CHECK(send(fd, bytes, count, MSG_NOSIGNAL) == (ssize_t)count);
    shutdown(fd, SHUT_WR);
    wait_for_close(fd);
}

/* A head of nonsense, or an open with another version, stream, epoch, job, sequence or length. The kind
 * stays: a bye would be right. */
static void make_strange_head(unsigned char bytes[PSD_WIRE_HEAD], uint64_t seed)
{
    struct psd_wire_head head = {.kind = PSD_WIRE_OPEN, .job = 7};
    struct psd_opening opening = {.count = 1};
    size_t where = (size_t)strange_draw(seed, 0, 31);

    psd_opening_encode(&opening, head.header);
    psd_wire_encode(&head, bytes);
    memset(bytes + PSD_WIRE_SEALED, 0, PSD_WIRE_SEAL);
    if (seed % 4 == 0)
        strange_fill(bytes, PSD_WIRE_HEAD, seed);
    else
        bytes[where + (where > 0)] ^= (unsigned char)(1 + strange_draw(seed, 1, 255));
}

/* In clear a seal that is right, though what it seals is not. */
static void seal_head(struct psd_channel *channel, unsigned char bytes[PSD_WIRE_HEAD])
{
    unsigned char keys[2][PSD_CHANNEL_KEY];
    struct psd_seal *seal = NULL;

    if (!psd_channel_is_clear(channel))
        return;
    CHECK_OK(psd_channel_keys(channel, keys[0], keys[1]));
    CHECK_OK(psd_seal_create(keys[0], &seal));
    psd_seal_put(seal, bytes);
    psd_seal_destroy(seal);
}

static void send_strange_frame(const struct seat *seat, const struct psd_trust *trust,
                               uint64_t seed)
{
    unsigned char bytes[PSD_WIRE_HEAD];
    struct psd_channel *channel = call_with_key(seat, trust);

    make_strange_head(bytes, seed);
    if (seed % 8)
        seal_head(channel, bytes);
    say_bytes(channel, bytes);
    wait_for_end_of(channel);
}

struct flood {
    const struct seat *seat;       /* at whose port it is */
    const struct psd_trust *trust; /* of those who have the key */
    bool in_clear;
    size_t before; /* the memory when it had begun */
    atomic_bool is_over;
};

static void *pour(void *arg)
{
    struct flood *flood = arg;

    for (uint64_t seed = 0; seed < STRANGERS; seed++) {
        send_strange_hello(flood->seat, flood->in_clear, seed);
        if (seed < MEMBERS)
            send_strange_frame(flood->seat, flood->trust, seed);
        flood->before = seed == 100 ? memory() : flood->before;
    }
    atomic_store(&flood->is_over, true);
    return NULL;
}

static unsigned n_frames; /* that the member has sent */

static bool has_sent_all(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->sent == n_frames;
}

static bool has_got_all(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->got == n_frames;
}

static void send_one(struct seat seats[2])
{
    struct psd_frame frame = frame_of("x", ones, sizeof ones);

    n_frames++;
    send_frames(&seats[1], &frame, 1);
    wait_until(&seats[1], has_sent_all);
    wait_until(&seats[0], has_got_all);
}

/* A frame at a time, the next when the one before has arrived, as long as strangers come. */
static void send_meanwhile(struct seat seats[2], const struct flood *flood)
{
    while (!atomic_load(&flood->is_over)) {
        send_one(seats);
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    }
    fprintf(stderr, "    %u frames meanwhile\n", n_frames);
    CHECK(n_frames >= FRAMES);
}

static void check_refusals(const struct seat *seat)
{
    struct psd_net_refusals refusals = refusals_of(seat);

    CHECK(refusals.handshakes == STRANGERS && refusals.late == 0);
    CHECK(refusals.foreign > 0 && refusals.replayed > 0 && refusals.old > 0);
    CHECK(refusals.garbled + refusals.foreign + refusals.replayed + refusals.old == MEMBERS);
}

static void live_through_a_flood(bool in_clear)
{
    struct psd_net_config config = patient;
    struct seat seats[2] = {{.config = &config}, {.config = &config}};
    struct psd_trust *trust = new_trust(in_clear);
    struct flood flood = {.seat = &seats[0], .trust = trust, .in_clear = in_clear};
    pthread_t thread;

    config.in_clear = in_clear;
    sit_in_one_arena(&seats[0], "a");
    sit(&seats[1], "b");
    connect_to(&seats[1], "a");
    wait_until(&seats[1], is_connected);
    CHECK(pthread_create(&thread, NULL, pour, &flood) == 0);
    send_meanwhile(seats, &flood);
    pthread_join(thread, NULL);
    wait_until(&seats[0], is_empty);
    fprintf(stderr, "    %zu KB, %zu before\n", memory() >> 10, flood.before >> 10);
    CHECK(memory() < flood.before + (128 << 10)); /* 40 bytes of each would be more */
    check_refusals(&seats[0]);
    send_one(seats);
    stand_up_all(seats, 2);
    CHECK(seats[0].connected == 1 && seats[0].closed == 0);
    psd_trust_destroy(trust);
}

static void a_flood_of_strangers_changes_nothing(void)
{
    live_through_a_flood(false);
}

static void a_flood_of_strangers_changes_nothing_in_clear(void)
{
    live_through_a_flood(true);
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(sixteen_that_do_not_end_their_hello_cost_less_than_a_megabyte)
    RUN(sixteen_with_a_recorded_hello_cost_less_than_a_megabyte)
    RUN(a_flood_of_strangers_changes_nothing)
    RUN(a_flood_of_strangers_changes_nothing_in_clear)
}
