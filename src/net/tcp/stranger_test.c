/* stranger_test.c - who comes to the port and is not what is expected there. */
#include "net_strangers.h"

#include <errno.h>

enum { CROWD = 40 };

static const struct psd_net_config fair = {.job = 7, .timeout_ns = 2 * PSD_CLOCK_S};
static const struct psd_net_config hasty = {.job = 7, .timeout_ns = 300 * PSD_CLOCK_MS};

static void who_says_nothing_is_sent_away(void)
{
    struct seat seat = {.config = &hasty};

    sit(&seat, "a");
    wait_for_close(call(&seat));
    CHECK(refusals_of(&seat).late == 1);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
}

/* As if it were a ClientHello of 512 bytes, one every 100 ms. */
static void who_takes_its_time_is_sent_away_after_two_seconds(void)
{
    static const struct psd_net_config usual = {.job = 7, .timeout_ns = 60 * PSD_CLOCK_S};
    static const unsigned char hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
    struct seat seat = {.config = &usual};
    char byte = 0;

    sit(&seat, "a");
    int fd = call(&seat);
    uint64_t began = psd_clock_now();
    for (size_t i = 0; recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN; i++) {
        (void)send(fd, i < sizeof hello ? &hello[i] : hello, 1, MSG_NOSIGNAL);
        psd_clock_sleep_until(psd_clock_now() + 100 * PSD_CLOCK_MS);
    }
    uint64_t took = psd_clock_now() - began;
    close(fd);
    fprintf(stderr, "    after %.1f s\n", (double)took / 1e9);
    CHECK(took > 1900 * PSD_CLOCK_MS && took < 20 * PSD_CLOCK_S); /* a busy machine is late */
    CHECK(refusals_of(&seat).late == 1);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
}

static void who_sends_garbage_is_sent_away_at_once(void)
{
    static const char *const garbage[] = {
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\x16\x03\x01\x00\x05hello",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and then something else altogether",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    };
    struct seat seat = {.config = &patient};

    sit(&seat, "a");
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        int fd = call(&seat);
        CHECK(send(fd, garbage[i], 64 < strlen(garbage[i]) ? 64 : strlen(garbage[i]), 0) > 0);
        shutdown(fd, SHUT_WR);
        wait_for_close(fd);
    }
    CHECK(refusals_of(&seat).handshakes == sizeof garbage / sizeof *garbage);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
}

static bool is_in(const struct seat *seat)
{
    return seat->connected > 0;
}

static bool is_answered(const struct seat *seat)
{
    return seat->connected || !seat->conn;
}

/* As members do, it calls again when it was too slow for a hasty one. */
static void get_in(struct seat *seat, const char *name)
{
    struct errand errand = {.seat = seat, .is_true = is_in};

    while (!errand.answer) {
        connect_to(seat, name);
        wait_until(seat, is_answered);
        on_loop(seat->loop, look_now, &errand);
    }
}

static void a_crowd_of_strangers_does_not_keep_a_member_out(void)
{
    struct seat seats[2] = {{.config = &hasty}, {.config = &patient}};
    int crowd[CROWD];

    sit(&seats[0], "a");
    sit(&seats[1], "b");
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = call(&seats[0]);
        if (i % 2)
            CHECK(send(crowd[i], "\x16\x03\x01\x02", 4, 0) == 4);
    }
    get_in(&seats[1], "a");
    for (size_t i = 0; i < CROWD; i++)
        wait_for_close(crowd[i]);
    CHECK(refusals_of(&seats[0]).late >= CROWD);
    stand_up_all(seats, 2);
}

/* --- members that are up to no good ---------------------------------------------------------------
 */

static void who_says_nothing_after_the_handshake_is_sent_away(void)
{
    struct seat seat = {.config = &fair};
    struct psd_trust *trust = new_trust(false);

    sit(&seat, "a");
    wait_for_end_of(call_with_key(&seat, trust));
    CHECK(refusals_of(&seat).late == 1);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
    psd_trust_destroy(trust);
}

static void streams_that_never_get_company_are_given_up(void)
{
    struct seat seat = {.config = &fair};
    struct psd_trust *trust = new_trust(false);

    sit(&seat, "a");
    struct psd_channel *channel = call_with_key(&seat, trust);
    say_open(channel, 0, 2);
    wait_for_end_of(channel);
    CHECK(refusals_of(&seat).late == 1);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
    psd_trust_destroy(trust);
}

static void strange_openings_are_refused(void)
{
    static const struct {
        const char *why;
        uint16_t number, count;
    } cases[] = {{"the third of two", 2, 2},
                 {"of none", 0, 0},
                 {"one that is there", 0, 2},
                 {"of another count", 1, 3}};
    struct seat seat = {.config = &patient};
    struct psd_trust *trust = new_trust(false);

    sit(&seat, "a");
    struct psd_channel *first = call_with_key(&seat, trust);
    say_open(first, 0, 2);
    wait_until(&seat, has_a_connection);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_channel *channel = call_with_key(&seat, trust);
        fprintf(stderr, "    %s\n", cases[i].why);
        say_open(channel, cases[i].number, cases[i].count);
        wait_for_end_of(channel);
        CHECK(refusals_of(&seat).garbled == i + 1);
    }
    struct psd_channel *second = call_with_key(&seat, trust);
    say_open(second, 1, 2);
    wait_for(&seat, "accepted\n");
    stand_up(&seat);
    psd_channel_destroy(first);
    psd_channel_destroy(second);
    psd_trust_destroy(trust);
}

/* The number in the head is the one that all later frames have. */
static void an_open_with_two_numbers_is_refused(void)
{
    struct psd_wire_head head = {.kind = PSD_WIRE_OPEN, .job = 7, .stream = 1};
    struct psd_opening opening = {.number = 0, .count = 2};
    struct seat seat = {.config = &patient};
    struct psd_trust *trust = new_trust(false);

    sit(&seat, "a");
    struct psd_channel *channel = call_with_key(&seat, trust);
    psd_opening_encode(&opening, head.header);
    say(channel, &head);
    wait_for_end_of(channel);
    CHECK(refusals_of(&seat).garbled == 1);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
    psd_trust_destroy(trust);
}

static void frames_before_an_opening_are_refused(void)
{
    struct psd_wire_head data = {.kind = PSD_WIRE_DATA, .job = 7};
    struct seat seat = {.config = &patient};
    struct psd_trust *trust = new_trust(false);

    sit(&seat, "a");
    struct psd_channel *channel = call_with_key(&seat, trust);
    say(channel, &data);
    wait_for_end_of(channel);
    CHECK(refusals_of(&seat).garbled == 1);
    stand_up(&seat);
    CHECK_TEXT("", seat.diary);
    psd_trust_destroy(trust);
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(who_says_nothing_is_sent_away)
    RUN(who_takes_its_time_is_sent_away_after_two_seconds)
    RUN(who_sends_garbage_is_sent_away_at_once)
    RUN(a_crowd_of_strangers_does_not_keep_a_member_out)
    RUN(who_says_nothing_after_the_handshake_is_sent_away)
    RUN(streams_that_never_get_company_are_given_up)
    RUN(strange_openings_are_refused)
    RUN(an_open_with_two_numbers_is_refused)
    RUN(frames_before_an_opening_are_refused)
}
