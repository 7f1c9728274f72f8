/* channel_invented_test.c - a hundred thousand handshakes that strangers have invented or changed: none gets
 * in, and nothing of them stays.
 *
 *     stranger              ours
 *     hello --------------> server       changed, or nonsense
 *     hello --------------> server
 *     finished -----------> server       recorded from another handshake, and changed
 *     client <------- hello              as ours always says it
 *     answer --------------> client      recorded from another handshake, and changed */
#include "channel_pair.h"
#include "net/tcp/channel_state.h"
#include "strange_bytes.h"

#include <malloc.h>

enum { STRANGERS = TEST_IS_SANITIZED ? 4000 : 100000, FLIGHT = 4096 };

/* What both sides of a handshake have said. */
struct record {
    struct flight {
        unsigned char bytes[FLIGHT];
        size_t count;
    } hello, answer, finished;
};

/* Passes on what one side says next, and keeps it. */
static void pass_on(struct pair *pair, const int far[2], int from, struct flight *flight)
{
    pair_shake_one(pair, from);
    ssize_t count = recv(far[from], flight->bytes, sizeof flight->bytes, 0);
    CHECK(count > 50 && count < FLIGHT);
    flight->count = (size_t)count;
    CHECK(send(far[!from], flight->bytes, flight->count, 0) == count);
}

static void record_handshake(struct side side, struct record *record)
{
    struct pair pair;
    int far[2];

    pair_init_apart(&pair, side, side, far);
    pass_on(&pair, far, 0, &record->hello);
    pass_on(&pair, far, 1, &record->answer);
    pass_on(&pair, far, 0, &record->finished);
    pair_shake_one(&pair, 1);
    CHECK(!pair.wants[0] && !pair.wants[1]); /* so it was a right one */
    pair_fini(&pair);
    close(far[0]);
    close(far[1]);
}

/* Ours, and the stranger's end of its socket. */
struct host {
    struct psd_channel *channel;
    int fd;
    psd_status status;
};

static void host_init(struct host *host, const struct psd_trust *trust, bool is_server)
{
    int fds[2];

    pair_make_sockets(fds);
    CHECK_OK(psd_channel_create(trust, fds[1], is_server, &host->channel));
    host->fd = fds[0];
    host->status = PSD_OK;
}

static void host_shake(struct host *host)
{
    unsigned wants = 0;

    if (host->status == PSD_OK)
        host->status = psd_channel_shake(host->channel, &wants);
    CHECK(!host->channel->is_done && (host->status == PSD_EPEER || wants));
}

static void host_hear(struct host *host, const unsigned char *bytes, size_t count)
{
    CHECK(send(host->fd, bytes, count, MSG_NOSIGNAL) == (ssize_t)count);
    host_shake(host);
}

/* A recorded flight, changed; or one in eight times something else altogether. */
static void host_hear_changed(struct host *host, const struct flight *flight, uint64_t seed)
{
    unsigned char bytes[FLIGHT];
    size_t count = flight->count;

    memcpy(bytes, flight->bytes, count);
    if (strange_draw(seed, 100, 8) == 0)
        strange_fill(bytes, count, seed);
    else
        count = strange_mutate(bytes, count, seed);
    host_hear(host, bytes, count);
}

static void meet_a_stranger(const struct psd_trust *trust, const struct record *record,
                            uint64_t seed)
{
    unsigned char bytes[PSD_HELLO + 1];
    struct host host;
    unsigned kind = seed % 4;

    host_init(&host, trust, kind != 3);
    if (kind == 0)
        host_hear_changed(&host, &record->hello, seed);
    if (kind == 1)
        host_hear(&host, bytes, strange_hello(bytes, seed));
    if (kind == 2) {
        host_hear(&host, record->hello.bytes, record->hello.count);
        CHECK_OK(host.status); /* it was made by somebody with the key */
        host_hear_changed(&host, &record->finished, seed);
    }
    if (kind == 3) {
        host_shake(&host);
        host_hear_changed(&host, &record->answer, seed);
    }
    shutdown(host.fd, SHUT_WR);
    host_shake(&host);
    CHECK_STATUS(PSD_EPEER, host.status); /* it has left without having the key */
    psd_channel_destroy(host.channel);
    close(host.fd);
}

/* Half of them meet a server and a client in clear. */
static void nothing_that_strangers_invent_gets_in_or_stays(void)
{
    struct psd_trust *trust[2];
    struct record record[2];
    size_t before = 0;

    for (int i = 0; i < 2; i++) {
        struct side side = {.job = 5, .in_clear = i == 1};
        trust[i] = new_trust(side);
        record_handshake(side, &record[i]);
    }
    for (uint64_t seed = 0; seed < STRANGERS; seed++) {
        meet_a_stranger(trust[seed / 4 % 2], &record[seed / 4 % 2], seed);
        if (seed == 400)
            before = mallinfo2().uordblks;
    }
    fprintf(stderr, "    %zu bytes after %d, %zu before\n", mallinfo2().uordblks, STRANGERS,
            before);
    CHECK(mallinfo2().uordblks < before + (64 << 10));
    psd_trust_destroy(trust[0]);
    psd_trust_destroy(trust[1]);
}

int main(int argc, char **argv)
{
    RUN(nothing_that_strangers_invent_gets_in_or_stays)
}
