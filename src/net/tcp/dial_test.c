/* dial_test.c - connecting to whom it does not come to. */
#include "net_strangers.h"

#include <dlfcn.h>
#include <netdb.h>

static const struct psd_net_config hasty = {.job = 7, .timeout_ns = 250 * PSD_CLOCK_MS};

static void nobody_at_the_address_is_heard_as_closed(void)
{
    struct seat seats[2] = {{.closed = 0}};

    sit(&seats[0], "a");
    sit(&seats[1], "b");
    on_loop(seats[1].loop, close_now, &seats[1]);
    connect_to(&seats[0], "b");
    wait_for(&seats[0], "closed: nobody listens at net://b\n");
    stand_up_all(seats, 2);
}

/* A port where connections are taken, and nothing is ever said. */
static int listen_silently(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[80];

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 8) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    snprintf(text, sizeof text, "127.0.0.1:%u", ntohs(address.sin_port));
    seat_register("silent", text);
    return fd;
}

static void who_does_not_answer_in_time_is_given_up(void)
{
    struct seat seat = {.config = &hasty};
    int silent = listen_silently();

    sit(&seat, "a");
    connect_to(&seat, "silent");
    wait_for(&seat, "closed: net://silent has not answered within 0.25 s\n");
    stand_up(&seat);
    close(silent);
}

static void who_hangs_up_during_the_handshake_is_heard_at_once(void)
{
    struct seat seat = {.closed = 0};
    int silent = listen_silently();

    sit(&seat, "a");
    connect_to(&seat, "silent");
    close(accept4(silent, NULL, NULL, SOCK_CLOEXEC));
    wait_until(&seat, has_closed);
    CHECK(strncmp(seat.diary, "closed: net://silent ", 21) == 0);
    stand_up(&seat);
    close(silent);
}

/* As call_with_key, of one who is called. */
static struct psd_channel *answer_with_key(int listener, const struct psd_trust *trust)
{
    struct psd_channel *channel = NULL;
    unsigned wants = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    CHECK_OK(psd_channel_create(trust, fd, true, &channel));
    while (wants)
        CHECK_OK(psd_channel_shake(channel, &wants));
    return channel;
}

static void who_answers_for_another_connection_is_named(void)
{
    struct seat seat = {.config = &patient};
    struct psd_trust *trust = new_trust(false);
    int silent = listen_silently();

    sit(&seat, "a");
    connect_to(&seat, "silent");
    struct psd_channel *channel = answer_with_key(silent, trust);
    say_open(channel, 0, 1);
    wait_for(&seat, "closed: net://silent has answered for another connection\n");
    CHECK(refusals_of(&seat).garbled == 1);
    stand_up(&seat);
    psd_channel_destroy(channel);
    psd_trust_destroy(trust);
    close(silent);
}

static void a_handshake_may_be_dropped(void)
{
    struct psd_net_config three = {.job = 7, .streams = 3};
    struct seat seats[2] = {{.config = &three}, {.config = &three}};
    struct psd_frame frame = frame_of("x", ones, sizeof ones);
    int silent = listen_silently();

    for (unsigned i = 0; i < 2; i++) {
        sit(&seats[i], "a");
        connect_to(&seats[i], "silent");
        send_frames(&seats[i], &frame, 1);
    }
    on_loop(seats[0].loop, drop_now, &seats[0]);
    stand_up_all(seats, 2);
    CHECK_TEXT("", seats[0].diary);
    close(silent);
}

static void addresses_that_are_none_are_refused(void)
{
    static const char *const addresses[] = {":7070",         "127.0.0.1:0", "127.0.0.1:70-80",
                                            "127.0.0.1:x",   "::1:7070",    "no such host:7070",
                                            "127.0.0.1:70-", "node-1:70-80"};
    struct seat seat = {.closed = 0};

    sit(&seat, "a");
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct errand errand = {.seat = &seat, .address = addresses[i]};
        on_loop(seat.loop, connect_now, &errand);
        CHECK_STATUS(PSD_ECONFIG, errand.status);
    }
    stand_up(&seat);
}

/* The system's, which does not know that node-1 is this machine. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai)
{
    int (*ask)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;
    void *next = dlsym(RTLD_NEXT, "getaddrinfo");

    memcpy(&ask, &next, sizeof ask);
    return ask(strcmp(name, "node-1") != 0 ? name : "127.0.0.1", service, req, pai);
}

static void a_host_with_a_hyphen_needs_no_port(void)
{
    struct seat seat = {.closed = 0};

    sit(&seat, "a");
    connect_to(&seat, "node-1");
    on_loop(seat.loop, drop_now, &seat);
    stand_up(&seat);
}

/* --- who is not of the job -------------------------------------------------------------------------
 */

static void who_is_not_of_the_job_does_not_get_in(void)
{
    static const struct psd_net_config other_job = {.job = 8};
    static const struct psd_net_config in_clear = {.job = 7, .in_clear = true};
    static const struct {
        const char *why, *key;
        const struct psd_net_config *config;
        const char *sentence;
    } cases[] = {
        {"another key", "another key, as good as any", NULL, "closed: net://a has another key\n"},
        {"another job", NULL, &other_job, "closed: net://a refuses us: "},
        {"in clear", NULL, &in_clear, "closed: net://a refuses us: "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seat seats[3] = {
            {.closed = 0}, {.key = cases[i].key, .config = cases[i].config}, {.closed = 0}};
        fprintf(stderr, "    %s\n", cases[i].why);
        sit(&seats[0], "a");
        sit(&seats[1], "b");
        sit(&seats[2], "c");
        connect_to(&seats[1], "a");
        wait_until(&seats[1], has_closed);
        CHECK(refusals_of(&seats[0]).handshakes == 1);
        connect_to(&seats[2], "a");
        wait_for(&seats[2], "connected\n");
        wait_for(&seats[0], "accepted\n"); /* and nothing of the other */
        stand_up_all(seats, 3);
        seats[1].diary[strlen(cases[i].sentence)] = '\0';
        CHECK_TEXT(cases[i].sentence, seats[1].diary);
    }
}

static void who_is_of_another_epoch_does_not_get_in(void)
{
    static const struct psd_net_config later = {.job = 7, .epoch = 1};
    struct seat seats[2] = {{.config = &later}, {.closed = 0}};

    sit(&seats[0], "a");
    sit(&seats[1], "b");
    connect_to(&seats[1], "a");
    wait_until(&seats[1], has_closed);
    CHECK(refusals_of(&seats[0]).old == 1);
    stand_up_all(seats, 2);
    CHECK_TEXT("", seats[0].diary);
    CHECK(strncmp(seats[1].diary, "closed: net://a ", 16) == 0);
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(nobody_at_the_address_is_heard_as_closed)
    RUN(who_does_not_answer_in_time_is_given_up)
    RUN(who_hangs_up_during_the_handshake_is_heard_at_once)
    RUN(who_answers_for_another_connection_is_named)
    RUN(a_handshake_may_be_dropped)
    RUN(addresses_that_are_none_are_refused)
    RUN(a_host_with_a_hyphen_needs_no_port)
    RUN(who_is_not_of_the_job_does_not_get_in)
    RUN(who_is_of_another_epoch_does_not_get_in)
}
