/* channel_kernel_test.c - whether the kernel encrypts or OpenSSL, nobody can tell. */
#include "channel_talk.h"
#include "net/tcp/channel_state.h"
#include "net/tcp/kernel_tls.h"
#include "stream_pair.h"

#include <netinet/tcp.h>

/* Bit 0: the client's side is in the kernel; bit 1: the server's. */
static void pair_connect_tcp(struct pair *pair, int in_kernel)
{
    int fds[2];

    connect_sockets(fds);
    pair_init_on(pair, (struct side){.in_kernel = in_kernel & 1},
                 (struct side){.in_kernel = in_kernel & 2}, fds);
    pair_shake_well(pair);
    for (int i = 0; i < 2; i++) {
        static const unsigned char nothing[sizeof pair->channel[i]->claim.secrets];
        CHECK(pair->channel[i]->in_kernel == ((in_kernel >> i & 1) && psd_kernel_tls_is_there()));
        CHECK(memcmp(pair->channel[i]->claim.secrets, nothing, sizeof nothing) == 0);
    }
}

/* What the kernel counts by this word since the machine started; 0: it does not know it. */
static long count_of(const char *word)
{
    FILE *file = fopen("/proc/self/net/tls_stat", "re");
    char line[128], name[64];
    long count = 0, value;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %ld", name, &value) == 2 && strcmp(name, word) == 0)
            count = value;
    if (file)
        fclose(file);
    return count;
}

static void without_the_kernel_openssl_does_it(void)
{
    struct side side = {.in_kernel = true};
    struct pair pair;

    pair_init(&pair, side, side); /* on sockets that are not TCP's */
    pair_shake_well(&pair);
    for (int i = 0; i < 2; i++)
        CHECK(pair.channel[i]->ssl && !pair.channel[i]->in_kernel);
    say(&pair, 0, "from the client");
    say(&pair, 1, "from the server");
    pair_fini(&pair);
}

static void in_clear_the_kernel_has_nothing_to_do(void)
{
    struct side side = {.in_clear = true, .in_kernel = true};
    struct pair pair;
    int fds[2];

    connect_sockets(fds);
    pair_init_on(&pair, side, side, fds);
    pair_shake_well(&pair);
    CHECK(!pair.channel[0]->in_kernel && !pair.channel[1]->in_kernel);
    say(&pair, 0, "in clear");
    pair_fini(&pair);
}

static void any_two_understand_each_other(void)
{
    for (int in_kernel = 0; in_kernel < 4; in_kernel++) {
        struct pair pair;
        pair_connect_tcp(&pair, in_kernel);
        say(&pair, 0, "from the client");
        say(&pair, 1, "from the server");
        flow_through(&pair);
        pair_fini(&pair);
    }
}

/* The server's kernel is told its key when there are already records under it. */
static void no_byte_is_lost_behind_the_handshake(void)
{
    struct side side = {.in_kernel = true};
    struct pair pair;
    int fds[2];

    connect_sockets(fds);
    pair_init_on(&pair, side, side, fds);
    say_behind_handshake(&pair);
    pair_fini(&pair);
}

static void only_the_key_lets_read_it(void)
{
    struct pair pair;
    char text[] = "the gradient of fc6", seen[200] = {0};
    struct iovec out = span(text, sizeof text);
    size_t count;

    pair_connect_tcp(&pair, 1);
    CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
    wait_for(pair.channel[1]);
    CHECK(recv(psd_channel_fd(pair.channel[1]), seen, sizeof seen, 0) == sizeof text + 22);
    CHECK(!memmem(seen, sizeof seen, "gradient", 8));
    pair_fini(&pair);
}

/* A text has two spans, and so counts as two records. */
static void keys_change_before_they_are_worn(void)
{
    for (int in_kernel = 1; in_kernel < 4; in_kernel++) {
        long sent = count_of("TlsTxRekeyOk"), received = count_of("TlsRxRekeyOk");
        struct pair pair;
        pair_connect_tcp(&pair, in_kernel);
        for (int i = 0; i < 2; i++)
            pair.channel[i]->records_of_a_key = 6;
        for (int i = 0; i < 10; i++) {
            say(&pair, 0, "with one key");
            say(&pair, 1, "or another");
        }
        flow_through(&pair);
        if (psd_kernel_tls_is_there()) {
            CHECK(count_of("TlsTxRekeyOk") >= sent + 3);
            CHECK(count_of("TlsRxRekeyOk") >= received + 3);
        }
        pair_fini(&pair);
    }
}

/* Reads as a reader does: when the socket is ready, until nothing is hidden. */
static size_t read_once(struct psd_channel *channel)
{
    char got[64];
    size_t sum = 0, count;

    wait_for(channel);
    do {
        CHECK_OK(psd_channel_read(channel, &(struct iovec){got, sizeof got}, 1, &count));
        sum += count;
    } while (count > 0 && psd_channel_hides(channel));
    return sum;
}

/* A read that takes what is before it leaves it behind, and the kernel tells nobody that it is there. */
static void a_change_of_keys_behind_data_is_not_left_there(void)
{
    for (int in_kernel = 2; in_kernel < 4; in_kernel++) {
        struct pair pair;
        char text[] = "one";
        struct iovec out = span(text, 3);
        size_t count, at = 0;
        pair_connect_tcp(&pair, in_kernel);
        pair.channel[0]->records_of_a_key = 1;
        for (int i = 0; i < 3; i++)
            CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
        while (at < 9)
            at += read_once(pair.channel[1]);
        CHECK(at == 9);
        pair_fini(&pair);
    }
}

/* No Poseidon asks for a change of keys; OpenSSL may. */
static void a_change_of_keys_that_is_asked_for_is_made(void)
{
    long sent = count_of("TlsTxRekeyOk");
    struct pair pair;

    pair_connect_tcp(&pair, 2);
    CHECK(SSL_key_update(pair.channel[0]->ssl, SSL_KEY_UPDATE_REQUESTED) == 1);
    say(&pair, 0, "and now you");
    say(&pair, 1, "gladly");
    say(&pair, 1, "once");
    CHECK(!psd_kernel_tls_is_there() || count_of("TlsTxRekeyOk") == sent + 1);
    pair_fini(&pair);
}

static void the_end_is_heard_and_raises_no_signal(void)
{
    struct pair pair;
    char text[] = "hello", got[64];
    struct iovec out = span(text, sizeof text), in = span(got, sizeof got);
    size_t count = 9;

    pair_connect_tcp(&pair, 3);
    CHECK_OK(psd_channel_write(pair.channel[1], &out, 1, &count));
    psd_channel_destroy(pair.channel[1]);
    pair.channel[1] = NULL;
    wait_for(pair.channel[0]);
    CHECK_OK(psd_channel_read(pair.channel[0], &in, 1, &count)); /* what came before it */
    CHECK(count == sizeof text);
    CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[0], &in, 1, &count));
    CHECK_TEXT("is gone", psd_error());
    psd_status status = PSD_OK;
    for (int i = 0; i < 3 && status == PSD_OK; i++) /* the first is answered by a reset */
        status = psd_channel_write(pair.channel[0], &out, 1, &count);
    CHECK_STATUS(PSD_EPEER, status);
    CHECK(strstr(psd_error(), "is gone: ") == psd_error());
    pair_fini(&pair);
}

/* As many bytes as the kernel takes, of which it has sent a part when the socket is closed. Where that part
 * ends depends on how many may wait. */
static void what_was_written_arrives_though_the_socket_is_closed(void)
{
    for (int unsent = 1000; unsent < 100000; unsent += 7000) {
        static char bytes[1 << 20];
        struct pair pair;
        struct iovec out = span(bytes, sizeof bytes), in = span(bytes, sizeof bytes);
        size_t wrote = 0, got = 0, count = 1;
        pair_connect_tcp(&pair, 3);
        CHECK(setsockopt(psd_channel_fd(pair.channel[0]), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
                         sizeof unsent) == 0);
        for (; count > 0; wrote += count)
            CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
        psd_channel_destroy(pair.channel[0]);
        pair.channel[0] = NULL;
        for (;; got += count) {
            wait_for(pair.channel[1]);
            if (psd_channel_read(pair.channel[1], &in, 1, &count) != PSD_OK)
                break;
        }
        CHECK_TEXT("is gone", psd_error());
        CHECK(got >= wrote); /* of what it has not counted OpenSSL may have sent a part */
        pair_fini(&pair);
    }
}

/* Carries what the client has sent to the server, with one bit changed. */
static void pass_altered(const int far[2], ssize_t at)
{
    unsigned char bytes[200];
    ssize_t length = recv(far[0], bytes, sizeof bytes, 0);

    CHECK(length > at);
    bytes[at >= 0 ? at : length - 1] ^= 1;
    CHECK(send(far[1], bytes, (size_t)length, 0) == length);
}

static void pass(int from, int to)
{
    unsigned char bytes[1000];
    ssize_t length = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);

    if (length > 0)
        CHECK(send(to, bytes, (size_t)length, 0) == length);
}

/* Somebody is between the two, who carries the handshake. */
static void pair_connect_apart(struct pair *pair, int far[2])
{
    struct side side = {.in_kernel = true};

    pair_init_apart_on(pair, side, side, connect_sockets, far);
    for (int turn = 0; pair->wants[0] || pair->wants[1]; turn++) {
        pair_shake_one(pair, turn % 2);
        pass(far[0], far[1]);
        pass(far[1], far[0]);
    }
    for (int i = 0; i < 2; i++)
        CHECK(fcntl(far[i], F_SETFL, 0) == 0);
}

/* The last byte of a record, or the first of its text. */
static void what_was_altered_is_told_on_both_sides(void)
{
    static const ssize_t places[] = {-1, 5};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct pair pair;
        char text[] = "hello", got[64];
        struct iovec out = span(text, sizeof text), in = span(got, sizeof got);
        int far[2];
        size_t count = 9;
        pair_connect_apart(&pair, far);
        CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
        pass_altered(far, places[i]);
        wait_for(pair.channel[1]);
        for (int again = 0; again < 2; again++) {
            CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[1], &in, 1, &count));
            CHECK(strstr(psd_error(), "sends what cannot be decrypted (") == psd_error());
            CHECK(count == 0 && psd_channel_is_garbled(pair.channel[1]));
            if (!psd_kernel_tls_is_there()) /* OpenSSL sends its alert with the next words */
                (void)psd_channel_write(pair.channel[1], &out, 1, &count);
        }
        pass(far[1], far[0]);
        wait_for(pair.channel[0]);
        CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[0], &in, 1, &count));
        CHECK(strstr(psd_error(), "has refused what we sent: it was altered on its way (") ==
              psd_error());
        CHECK(count == 0 && !psd_channel_is_garbled(pair.channel[0]));
        pair_fini(&pair);
        close(far[0]);
        close(far[1]);
    }
}

/* Two records, of which the second is altered at this place: its version, its length, its text. */
static void what_was_altered_behind_data_is_told_to_who_reads_and_who_writes(void)
{
    static const size_t places[] = {1, 3, 5};

    for (size_t i = 0; i < 6; i++) {
        bool writes = i % 2;
        struct pair pair;
        char text[] = "hello", got[64];
        unsigned char bytes[200];
        struct iovec out = span(text, sizeof text), in = span(got, sizeof got);
        int far[2];
        size_t count = 9, record = sizeof text + 22;
        psd_status status = PSD_OK;
        pair_connect_apart(&pair, far);
        if (pair.channel[1]->in_kernel) /* where it means nothing */
            psd_channel_expect(pair.channel[1], 100000);
        for (int n = 0; n < 2; n++)
            CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
        CHECK(recv(far[0], bytes, 2 * record, MSG_WAITALL) == (ssize_t)(2 * record));
        bytes[record + places[i / 2]] ^= 0x80;
        CHECK(send(far[1], bytes, 2 * record, 0) == (ssize_t)(2 * record));
        wait_for(pair.channel[1]);
        CHECK_OK(psd_channel_read(pair.channel[1], &in, 1, &count));
        CHECK(count == sizeof text);
        if (writes)
            status = psd_channel_write(pair.channel[1], &out, 1, &count);
        if (status == PSD_OK)
            status = psd_channel_read(pair.channel[1], &in, 1, &count);
        CHECK_STATUS(PSD_EPEER, status);
        CHECK(strstr(psd_error(), "sends what cannot be decrypted (") == psd_error());
        CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[1], &in, 1, &count));
        CHECK(psd_channel_is_garbled(pair.channel[1]));
        pair_fini(&pair);
        close(far[0]);
        close(far[1]);
    }
}

/* An end that comes before a record is whole, and a record that comes twice. */
static void what_was_cut_or_repeated_is_told(void)
{
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        struct pair pair;
        char text[] = "hello", got[64];
        unsigned char bytes[200];
        struct iovec out = span(text, sizeof text), in = span(got, sizeof got);
        int far[2];
        size_t count = 9;
        pair_connect_apart(&pair, far);
        CHECK_OK(psd_channel_write(pair.channel[0], &out, 1, &count));
        ssize_t length = recv(far[0], bytes, sizeof bytes, 0);
        CHECK(send(far[1], bytes, (size_t)length, 0) == length);
        CHECK(send(far[1], bytes, (size_t)(length - is_cut), 0) == length - is_cut);
        CHECK(shutdown(far[1], SHUT_WR) == 0);
        wait_for(pair.channel[1]);
        CHECK_OK(psd_channel_read(pair.channel[1], &in, 1, &count));
        CHECK(count == sizeof text);
        wait_for(pair.channel[1]);
        CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[1], &in, 1, &count));
        CHECK(psd_channel_is_garbled(pair.channel[1]) == !is_cut);
        pair_fini(&pair);
        close(far[0]);
        close(far[1]);
    }
}

/* Records that are whole and right, but nothing that a Poseidon says. */
static void what_is_neither_data_nor_a_key_is_refused(void)
{
    static const struct {
        unsigned char type, size, bytes[8];
    } records[] = {{22, 1, {24}},
                   {22, 6, {24, 0, 0, 1, 0, 0}},
                   {22, 5, {24, 0, 0, 1, 2}},
                   {22, 5, {4, 0, 0, 1, 0}},
                   {21, 1, {2}},
                   {20, 1, {1}}};

    if (!psd_kernel_tls_is_there())
        SKIP("this kernel has no TLS whose keys can be changed");
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct pair pair;
        char got[64];
        struct iovec in = span(got, sizeof got);
        size_t count = 9;
        pair_connect_tcp(&pair, 3);
        CHECK(psd_kernel_tls_send(psd_channel_fd(pair.channel[0]), records[i].type,
                                  records[i].bytes, records[i].size) == records[i].size);
        wait_for(pair.channel[1]);
        CHECK_STATUS(PSD_EPEER, psd_channel_read(pair.channel[1], &in, 1, &count));
        CHECK(psd_channel_is_garbled(pair.channel[1]));
        pair_fini(&pair);
    }
}

/* Of ours; the kernel has memory of its own. */
static void a_handshake_survives_every_failed_allocation(void)
{
    struct side side = {.in_kernel = true};
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct pair pair;
        int fds[2];
        connect_sockets(fds);
        pair_init_on(&pair, side, side, fds);
        failed = shake_without_memory(&pair, n);
        pair_fini(&pair);
    }
}

int main(int argc, char **argv)
{
    RUN(without_the_kernel_openssl_does_it)
    RUN(in_clear_the_kernel_has_nothing_to_do)
    RUN(any_two_understand_each_other)
    RUN(no_byte_is_lost_behind_the_handshake)
    RUN(only_the_key_lets_read_it)
    RUN(keys_change_before_they_are_worn)
    RUN(a_change_of_keys_behind_data_is_not_left_there)
    RUN(a_change_of_keys_that_is_asked_for_is_made)
    RUN(the_end_is_heard_and_raises_no_signal)
    RUN(what_was_written_arrives_though_the_socket_is_closed)
    RUN(what_was_altered_is_told_on_both_sides)
    RUN(what_was_altered_behind_data_is_told_to_who_reads_and_who_writes)
    RUN(what_was_cut_or_repeated_is_told)
    RUN(what_is_neither_data_nor_a_key_is_refused)
    RUN(a_handshake_survives_every_failed_allocation)
}
