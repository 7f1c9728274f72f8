/* channel_pair.h - two channels with whatever a test wants between them.
 *
 *     channel[0], the client ---- socket ---- socket ---- channel[1], the server
 */
#ifndef PSD_TESTS_CHANNEL_PAIR_H
#define PSD_TESTS_CHANNEL_PAIR_H

#include "net/tcp/channel.h"
#include "test.h"

#include <sys/socket.h>

static const char pair_key[] = "0123456789abcdef0123456789abcdef";

/* What a side knows; zero is the usual key and job, encrypted. */
struct side {
    const char *key;
    uint64_t job;
    bool in_clear, in_kernel;
};

struct pair {
    struct psd_trust *trust[2];
    struct psd_channel *channel[2]; /* NULL when its handshake has failed */
    unsigned wants[2];
    psd_status status[2];
    char why[2][256];
};

static inline struct psd_trust *new_trust(struct side side)
{
    struct psd_trust *trust = NULL;
    const char *key = side.key ? side.key : pair_key;

    CHECK_OK(psd_trust_create(key, strlen(key), side.job, side.in_clear, &trust));
    if (side.in_kernel)
        psd_trust_use_kernel(trust);
    return trust;
}

static inline void pair_make_sockets(int fds[2])
{
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
}

static inline void pair_init_on(struct pair *pair, struct side client, struct side server,
                                const int fds[2])
{
    *pair = (struct pair){.trust = {new_trust(client), new_trust(server)}, .wants = {1, 1}};
    for (int i = 0; i < 2; i++)
        CHECK_OK(psd_channel_create(pair->trust[i], fds[i], i == 1, &pair->channel[i]));
}

static inline void pair_init(struct pair *pair, struct side client, struct side server)
{
    int fds[2];

    pair_make_sockets(fds);
    pair_init_on(pair, client, server, fds);
}

/* Somebody is between the two: far[0] is the other end of the client's socket, far[1] of the server's. */
static inline void pair_init_apart_on(struct pair *pair, struct side client, struct side server,
                                      void (*make_sockets)(int fds[2]), int far[2])
{
    int first[2], second[2];

    make_sockets(first);
    make_sockets(second);
    pair_init_on(pair, client, server, (int[2]){first[0], second[0]});
    far[0] = first[1];
    far[1] = second[1];
}

static inline void pair_init_apart(struct pair *pair, struct side client, struct side server,
                                   int far[2])
{
    pair_init_apart_on(pair, client, server, pair_make_sockets, far);
}

static inline void pair_shake_one(struct pair *pair, int i)
{
    if (!pair->channel[i] || !pair->wants[i])
        return;
    pair->status[i] = psd_channel_shake(pair->channel[i], &pair->wants[i]);
    if (pair->status[i] == PSD_OK)
        return;
    snprintf(pair->why[i], sizeof pair->why[i], "%s", psd_error());
    psd_channel_destroy(pair->channel[i]);
    pair->channel[i] = NULL;
}

/* Lets both shake hands until they are done or have failed, or nothing more happens. */
static inline void pair_shake(struct pair *pair)
{
    for (int turn = 0; turn < 10; turn++)
        pair_shake_one(pair, turn % 2);
}

static inline void pair_shake_well(struct pair *pair)
{
    pair_shake(pair);
    CHECK_TEXT("", pair->why[0]);
    CHECK_TEXT("", pair->why[1]);
    CHECK(!pair->wants[0] && !pair->wants[1]);
}

static inline void pair_connect(struct pair *pair, bool in_clear)
{
    struct side side = {.in_clear = in_clear};

    pair_init(pair, side, side);
    pair_shake_well(pair);
}

static inline void pair_fini(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        psd_channel_destroy(pair->channel[i]);
        psd_trust_destroy(pair->trust[i]);
    }
}

#endif
