/* channel_talk.h - what two channels say to each other: a short text, or megabytes. */
#ifndef PSD_TESTS_CHANNEL_TALK_H
#define PSD_TESTS_CHANNEL_TALK_H

#include "base/alloc.h"
#include "base/random.h"
#include "channel_pair.h"

#include <poll.h>

static inline struct iovec span(void *data, size_t bytes)
{
    return (struct iovec){.iov_base = data, .iov_len = bytes};
}

/* Waits until there is something to read, or the end. */
static inline void wait_for(const struct psd_channel *channel)
{
    struct pollfd waits = {.fd = psd_channel_fd(channel), .events = POLLIN};

    CHECK(poll(&waits, 1, 10000) == 1);
}

/* Sends a short text in two spans, and reads it into two others; TCP may bring it in parts. */
static inline void say(struct pair *pair, int from, const char *text)
{
    char copy[64], got[64] = {0};
    size_t count, at = 0, length = strlen(text), half = length / 2;

    snprintf(copy, sizeof copy, "%s", text);
    struct iovec out[] = {span(copy, half), span(copy + half, length - half)};
    CHECK_OK(psd_channel_write(pair->channel[from], out, 2, &count));
    CHECK(count == length);
    for (; at < length; at += count) {
        struct iovec in[] = {span(got + at, 3), span(got + at + 3, sizeof got - at - 3)};
        wait_for(pair->channel[!from]);
        CHECK_OK(psd_channel_read(pair->channel[!from], in, 2, &count));
    }
    CHECK_TEXT(text, got);
    CHECK_OK(psd_channel_read(pair->channel[!from], &(struct iovec){got, 1}, 1, &count));
    CHECK(count == 0);
}

/* The client is done first, and speaks before the server has read its last message of the handshake. */
static inline void say_behind_handshake(struct pair *pair)
{
    char text[] = "right behind it", got[64];
    struct iovec out = span(text, sizeof text), in = span(got, sizeof got);
    size_t count;

    while (pair->wants[0]) {
        pair_shake_one(pair, 0);
        if (pair->wants[0])
            pair_shake_one(pair, 1);
    }
    CHECK(pair->wants[1]);
    CHECK_OK(psd_channel_write(pair->channel[0], &out, 1, &count));
    pair_shake_one(pair, 1);
    CHECK_TEXT("", pair->why[1]);
    CHECK(!pair->wants[1]);
    wait_for(pair->channel[1]);
    CHECK_OK(psd_channel_read(pair->channel[1], &in, 1, &count));
    CHECK(count == sizeof text);
    CHECK_TEXT(text, got);
}

/* Shakes hands where the allocation with this number fails; whether there was one. */
static inline bool shake_without_memory(struct pair *pair, long number)
{
    psd_alloc_fail_at(number);
    pair_shake(pair);
    bool failed = psd_alloc_fail_at(-1);
    psd_status first = pair->status[0] != PSD_OK ? pair->status[0] : pair->status[1];
    CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, first);
    return failed;
}

/* Random bytes in random vectors through a socket that takes little at a time. */
struct flow {
    unsigned char *bytes;
    size_t total, at;
    uint64_t seed, drawn;
};

static inline size_t make_vector(struct flow *flow, struct iovec spans[4])
{
    size_t at = flow->at, most = 1 + psd_random_below(flow->seed, 0, flow->drawn++, 60000), sum = 0;

    for (int i = 0; i < 4; i++) {
        size_t length = (i == 0) + psd_random_below(flow->seed, 0, flow->drawn++, most);
        if (length > flow->total - at)
            length = flow->total - at;
        spans[i] = span(flow->bytes + at, length);
        at += length;
        sum += length;
    }
    return sum;
}

/* Goes on with the same vector until it is written. */
static inline void pump(struct pair *pair, struct flow *out, struct flow *in)
{
    struct iovec from[4], to[4];

    while (in->at < in->total) {
        size_t length = make_vector(out, from), done = 0, count;
        struct iovec *next = from;
        do {
            CHECK_OK(psd_channel_write(pair->channel[0], next, (int)(from + 4 - next), &count));
            done += count;
            out->at += count;
            for (; next < from + 4 && count >= next->iov_len; next++)
                count -= next->iov_len;
            if (next < from + 4)
                *next = span((char *)next->iov_base + count, next->iov_len - count);
            make_vector(in, to);
            CHECK_OK(psd_channel_read(pair->channel[1], to, 4, &count));
            in->at += count;
        } while (done < length);
    }
}

/* From the client to the server. */
static inline void flow_through(struct pair *pair)
{
    size_t total = 4 << 20;
    struct flow out = {.bytes = malloc(total), .total = total, .seed = 5};
    struct flow in = {.bytes = calloc(1, total), .total = total, .seed = 6};
    int little = 9000;

    for (size_t i = 0; i < total; i++)
        out.bytes[i] = (unsigned char)psd_random_u32(7, 0, i);
    CHECK(setsockopt(psd_channel_fd(pair->channel[0]), SOL_SOCKET, SO_SNDBUF, &little,
                     sizeof little) == 0);
    pump(pair, &out, &in);
    CHECK(memcmp(out.bytes, in.bytes, total) == 0);
    free(out.bytes);
    free(in.bytes);
}

#endif
