/* channel_test.c - bytes of those who have the key: all of them, in order, until the end. */
#include "base/alloc.h"
#include "channel_talk.h"
#include "net/tcp/channel_state.h"

#include <fcntl.h>
#include <pthread.h>

static void both_ways_work_encrypted_and_in_clear(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct pair pair;
        pair_connect(&pair, in_clear);
        CHECK(psd_channel_is_clear(pair.channel[0]) == in_clear);
        say(&pair, 0, "from the client");
        say(&pair, 1, "from the server");
        pair_fini(&pair);
    }
}

/* What is seen between the two. */
static void only_in_clear_others_can_read_it(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct pair pair;
        char text[] = "the gradient of fc6", seen[200] = {0};
        struct iovec out = span(text, sizeof text);
        size_t count;
        pair_connect(&pair, in_clear);
        CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
        CHECK(recv(psd_channel_fd(pair.channel[1]), seen, sizeof seen, 0) > 0);
        CHECK((memcmp(seen, text, sizeof text) == 0) == in_clear);
        CHECK((memmem(seen, sizeof seen, "gradient", 8) != NULL) == in_clear);
        pair_fini(&pair);
    }
}

/* 22 bytes are added to each. */
static void records_are_as_long_as_can_be(void)
{
    enum { RECORD = 16384, RECORDS = 3 };
    static char bytes[RECORDS * RECORD], seen[2 * sizeof bytes];
    struct pair pair;
    struct iovec out = span(bytes, sizeof bytes);
    size_t count;

    pair_connect(&pair, false);
    CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
    CHECK(count == sizeof bytes);
    ssize_t length = recv(psd_channel_fd(pair.channel[1]), seen, sizeof seen, 0);
    CHECK(length == (ssize_t)(sizeof bytes + RECORDS * (size_t)22));
    pair_fini(&pair);
}

static void all_bytes_arrive_in_order_however_they_are_cut(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct pair pair;
        pair_connect(&pair, in_clear);
        flow_through(&pair);
        pair_fini(&pair);
    }
}

/* TLS is left by the client first, by the server when it has read the client's last record. */
static void in_clear_no_byte_is_lost_behind_the_handshake(void)
{
    struct side side = {.in_clear = true};
    struct pair pair;

    pair_init(&pair, side, side);
    say_behind_handshake(&pair);
    pair_fini(&pair);
}

static void a_handshake_may_come_byte_by_byte(void)
{
    struct side side = {.job = 3};
    struct pair pair;
    int far[2];
    char byte;

    pair_init_apart(&pair, side, side, far);
    for (int turn = 0; turn < 3000 && (pair.wants[0] || pair.wants[1]); turn++) {
        int i = turn % 2;
        pair_shake_one(&pair, i);
        if (recv(far[i], &byte, 1, 0) == 1)
            CHECK(send(far[!i], &byte, 1, 0) == 1);
    }
    CHECK_TEXT("", pair.why[0]);
    CHECK_TEXT("", pair.why[1]);
    CHECK(!pair.wants[0] && !pair.wants[1]);
    pair_fini(&pair);
    close(far[0]);
    close(far[1]);
}

static void keys_are_the_same_crosswise_and_different_otherwise(void)
{
    struct pair pair, other;
    unsigned char sending[3][PSD_CHANNEL_KEY], receiving[3][PSD_CHANNEL_KEY];

    pair_connect(&pair, true);
    pair_connect(&other, true);
    CHECK_OK(psd_channel_keys(pair.channel[0], sending[0], receiving[0]));
    CHECK_OK(psd_channel_keys(pair.channel[1], sending[1], receiving[1]));
    CHECK_OK(psd_channel_keys(other.channel[0], sending[2], receiving[2]));
    CHECK_STATUS(PSD_EINVAL, psd_channel_keys(pair.channel[0], sending[0], receiving[0]));
    CHECK(memcmp(sending[0], receiving[1], PSD_CHANNEL_KEY) == 0);
    CHECK(memcmp(receiving[0], sending[1], PSD_CHANNEL_KEY) == 0);
    CHECK(memcmp(sending[0], receiving[0], PSD_CHANNEL_KEY) != 0);
    CHECK(memcmp(sending[0], sending[2], PSD_CHANNEL_KEY) != 0);
    pair_fini(&pair);
    pair_fini(&other);
}

static void only_a_channel_in_clear_has_keys(void)
{
    unsigned char keys[2][PSD_CHANNEL_KEY];
    struct side clear = {.in_clear = true};
    struct pair pair, early;

    pair_connect(&pair, false);
    CHECK_STATUS(PSD_EINVAL, psd_channel_keys(pair.channel[0], keys[0], keys[1]));
    pair_init(&early, clear, clear);
    CHECK_STATUS(PSD_EINVAL, psd_channel_keys(early.channel[0], keys[0], keys[1]));
    pair_fini(&pair);
    pair_fini(&early);
}

static int changes;

static void count_changes(int is_sent, int version, int type, const void *bytes, size_t size,
                          SSL *ssl, void *unused)
{
    (void)is_sent, (void)version, (void)ssl, (void)unused;
    if (type == SSL3_RT_HANDSHAKE && size > 0 &&
        *(const unsigned char *)bytes == SSL3_MT_KEY_UPDATE)
        changes++;
}

static void keys_change_before_they_are_worn(void)
{
    struct pair pair;

    pair_connect(&pair, false);
    SSL_set_msg_callback(pair.channel[1]->ssl, count_changes);
    pair.channel[0]->records_of_a_key = 6; /* a text is two records */
    for (int i = 0; i < 10; i++) {
        say(&pair, 0, "with one key");
        say(&pair, 1, "or another");
    }
    CHECK(changes == 3);
    pair_fini(&pair);
}

static void the_end_is_heard_and_raises_no_signal(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct pair pair;
        char text[] = "hello", got[64];
        struct iovec out = span(text, sizeof text), in = span(got, sizeof got);
        size_t count = 9;
        pair_connect(&pair, in_clear);
        CHECK_OK(psd_channel_write(pair.channel[1], &out, 1, &count));
        psd_channel_destroy(pair.channel[1]);
        pair.channel[1] = NULL;
        CHECK_OK(psd_channel_read(pair.channel[0], &in, 1, &count)); /* what came before it */
        CHECK(count == sizeof text);
        CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[0], &in, 1, &count));
        CHECK_TEXT("is gone", psd_error());
        CHECK(count == 0);
        CHECK_STATUS(PSD_EPEER, psd_channel_write(pair.channel[0], &out, 1, &count));
        CHECK_TEXT("is gone: Broken pipe", psd_error());
        pair_fini(&pair);
    }
}

/* Sends a text from the client to the server, with one bit changed. */
static void send_altered(struct pair *pair)
{
    char text[] = "hello";
    unsigned char bytes[200];
    struct iovec out = span(text, sizeof text);
    size_t count = 9;

    CHECK_OK(psd_channel_write(pair->channel[0], &out, 1, &count));
    ssize_t length = recv(psd_channel_fd(pair->channel[1]), bytes, sizeof bytes, 0);
    CHECK(length > (ssize_t)sizeof text);
    bytes[length - 1] ^= 1;
    CHECK(send(psd_channel_fd(pair->channel[0]), bytes, (size_t)length, 0) == length);
}

static void one_changed_bit_is_told_where_it_is_encrypted(void)
{
    struct pair pair;
    char got[64];
    struct iovec in = span(got, sizeof got);
    size_t count = 9;

    pair_connect(&pair, false);
    send_altered(&pair);
    CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[1], &in, 1, &count));
    CHECK(strstr(psd_error(), "sends what cannot be decrypted") == psd_error());
    CHECK(count == 0 && psd_channel_is_garbled(pair.channel[1]));
    pair_fini(&pair);
}

/* OpenSSL's word for it goes out with the last that the server tries to say. */
static void whose_words_were_altered_hears_that_they_are_refused(void)
{
    struct pair pair;
    char got[64] = "goodbye";
    struct iovec both = span(got, sizeof got);
    size_t count = 9;

    pair_connect(&pair, false);
    send_altered(&pair);
    CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[1], &both, 1, &count));
    (void)psd_channel_write(pair.channel[1], &both, 1, &count);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[0], &both, 1, &count));
        CHECK(strstr(psd_error(), "has refused what we sent: it was altered on its way (") ==
              psd_error());
        CHECK(count == 0 && !psd_channel_is_garbled(pair.channel[0]));
    }
    pair_fini(&pair);
}

static void a_repeated_record_is_told(void)
{
    struct pair pair;
    char text[] = "hello", got[64];
    unsigned char bytes[200];
    struct iovec out = span(text, sizeof text), in = span(got, sizeof got);
    size_t count = 9;

    pair_connect(&pair, false);
    CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
    ssize_t length = recv(psd_channel_fd(pair.channel[1]), bytes, sizeof bytes, 0);
    for (int i = 0; i < 2; i++)
        CHECK(send(psd_channel_fd(pair.channel[0]), bytes, (size_t)length, 0) == length);
    CHECK_OK(psd_channel_read(pair.channel[1], &in, 1, &count));
    CHECK(count == sizeof text);
    CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[1], &in, 1, &count));
    pair_fini(&pair);
}

/* One of the threads that share two trusts. */
static void *connect_often(void *arg)
{
    struct psd_trust *const *trust = arg;

    for (int i = 0; i < 20; i++) {
        struct pair pair = {.wants = {1, 1}};
        int fds[2];
        pair_make_sockets(fds);
        for (int side = 0; side < 2; side++)
            CHECK_OK(psd_channel_create(trust[side], fds[side], side == 1, &pair.channel[side]));
        pair_shake(&pair);
        say(&pair, i % 2, "from one of four");
        pair_fini(&pair);
    }
    return NULL;
}

static void threads_share_a_trust(void)
{
    struct side side = {.job = 1};
    struct psd_trust *trust[2] = {new_trust(side), new_trust(side)};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, connect_often, trust) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    psd_trust_destroy(trust[0]);
    psd_trust_destroy(trust[1]);
}

/* Whether the descriptor is closed shows in its number being free. */
static void a_channel_owns_its_socket_also_when_it_fails(void)
{
    struct psd_trust *trust = new_trust((struct side){.job = 1});
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_channel *channel = NULL;
        int fds[2];
        CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
        psd_alloc_fail_at(n);
        psd_status status = psd_channel_create(trust, fds[0], n % 2, &channel);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (channel == NULL));
        psd_channel_destroy(channel);
        CHECK(fcntl(fds[0], F_GETFD) == -1);
        close(fds[1]);
    }
    psd_trust_destroy(trust);
}

static void a_handshake_survives_every_failed_allocation(void)
{
    for (int in_clear = 0; in_clear < 2; in_clear++) {
        struct side side = {.in_clear = in_clear};
        bool failed = true;
        for (long n = 0; failed; n++) {
            struct pair pair;
            pair_init(&pair, side, side);
            failed = shake_without_memory(&pair, n);
            pair_fini(&pair);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(both_ways_work_encrypted_and_in_clear)
    RUN(only_in_clear_others_can_read_it)
    RUN(records_are_as_long_as_can_be)
    RUN(all_bytes_arrive_in_order_however_they_are_cut)
    RUN(in_clear_no_byte_is_lost_behind_the_handshake)
    RUN(a_handshake_may_come_byte_by_byte)
    RUN(keys_are_the_same_crosswise_and_different_otherwise)
    RUN(only_a_channel_in_clear_has_keys)
    RUN(keys_change_before_they_are_worn)
    RUN(the_end_is_heard_and_raises_no_signal)
    RUN(one_changed_bit_is_told_where_it_is_encrypted)
    RUN(whose_words_were_altered_hears_that_they_are_refused)
    RUN(a_repeated_record_is_told)
    RUN(threads_share_a_trust)
    RUN(a_handshake_survives_every_failed_allocation)
    RUN(a_channel_owns_its_socket_also_when_it_fails)
}
