/* reader_strange_test.c - a hundred thousand frames that are not right, each behind some that are: the reader
 * arrives at those, and at nothing else. */
#include "strange_bytes.h"
#include "stream_speech.h"

#include <malloc.h>

enum {
    FRAMES = TEST_IS_SANITIZED ? 5000 : 100000,
    RECORDS = TEST_IS_SANITIZED ? 200 : 2000,
    ORDERS = 400
};

/* Up to three right frames or beats, and then one that is not: bytes, a change, a lie, or nonsense in the
 * form of all orders. */
static size_t make_orders(uint8_t orders[ORDERS], uint64_t seed)
{
    size_t count = 0;
    unsigned kind = (unsigned)strange_draw(seed, 50, 4);

    strange_fill(orders, ORDERS, seed);
    for (uint64_t right = strange_draw(seed, 51, 4); right > 0; right--) {
        orders[count++] = right % 2 ? 1 : 4;
        count += right % 2;
    }
    if (kind == 3)
        return count + 1 + (size_t)strange_draw(seed, 52, 100);
    orders[count] = (uint8_t)(kind == 0 ? 0 : kind + 1);
    return count + (kind == 0 ? 2 + (size_t)orders[count + 1] : 4);
}

static void give_strange_speeches(struct mouth *mouth)
{
    uint8_t orders[ORDERS];
    size_t before = 0;

    for (uint64_t seed = 0; seed < FRAMES; seed++) {
        speech_give(mouth, orders, make_orders(orders, seed));
        if (seed == 1000)
            before = mallinfo2().uordblks;
    }
    CHECK(mallinfo2().uordblks < before + (64 << 10));
}

static void frames_that_are_not_right_do_not_arrive_in_clear(void)
{
    struct mouth mouth;

    open_mouth(&mouth);
    give_strange_speeches(&mouth);
    shut_mouth(&mouth);
}

/* A member may say anything. */
static void frames_that_are_not_right_do_not_arrive_in_tls(void)
{
    struct mouth mouth;

    open_mouth_in_tls(&mouth);
    give_strange_speeches(&mouth);
    shut_mouth(&mouth);
}

/* Takes what the writer has sent away from the reader's socket. */
static size_t steal(const struct mouth *mouth, unsigned char *bytes, size_t most)
{
    ssize_t count = recv(psd_channel_fd(mouth->pair.channels[1]), bytes, most, 0);

    CHECK(count > 0 && (size_t)count < most);
    return (size_t)count;
}

static void send_raw(const struct mouth *mouth, const unsigned char *bytes, size_t count)
{
    int fd = psd_channel_fd(mouth->pair.channels[0]);

    CHECK(send(fd, bytes, count, MSG_NOSIGNAL) == (ssize_t)count);
}

/* Somebody between two members changes a record, replaces it, or sends it twice. */
static void spoil_a_record(struct mouth *mouth, uint64_t seed)
{
    static const unsigned char zeros[64];
    unsigned char bytes[1024];
    bool is_replayed = seed % 4 == 0;

    say(mouth, (struct psd_wire_head){.kind = PSD_WIRE_OPEN}, NULL);
    CHECK(hear_news(mouth) == PSD_READER_OPENED);
    say(mouth, (struct psd_wire_head){.length = sizeof zeros}, zeros);
    size_t count = steal(mouth, bytes, sizeof bytes);
    if (is_replayed)
        send_raw(mouth, bytes, count);
    else if (seed % 4 == 1)
        strange_fill(bytes, count, seed);
    else
        count = strange_mutate(bytes, count, seed);
    send_raw(mouth, bytes, count);
    CHECK(speech_hear(mouth) == is_replayed);
    CHECK(mouth->reader.sequence == 1U + is_replayed);
}

static void records_that_are_changed_on_their_way_do_not_arrive(void)
{
    for (uint64_t seed = 0; seed < RECORDS; seed++) {
        struct mouth mouth;
        open_mouth_in_tls(&mouth);
        spoil_a_record(&mouth, seed);
        shut_mouth(&mouth);
    }
}

int main(int argc, char **argv)
{
    RUN(frames_that_are_not_right_do_not_arrive_in_clear)
    RUN(frames_that_are_not_right_do_not_arrive_in_tls)
    RUN(records_that_are_changed_on_their_way_do_not_arrive)
}
