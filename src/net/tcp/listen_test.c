/* listen_test.c - addresses and ports to listen at. */
#include "net/tcp/tcp.h"
#include "net_tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

static void open_there(struct seat *seat, const char *where, struct errand *errand)
{
    CHECK_OK(psd_loop_create(&seat->loop));
    CHECK_OK(psd_loop_start(seat->loop));
    seat_where = where;
    *errand = (struct errand){.seat = seat, .address = "x"};
    on_loop(seat->loop, open_now, errand);
}

static void a_port_is_chosen_from_7070_on(void)
{
    struct seat seats[2] = {{.closed = 0}};

    seat_where = "127.0.0.1";
    sit(&seats[0], "a");
    sit(&seats[1], "b");
    CHECK(port_of(&seats[0]) >= 7070 && port_of(&seats[1]) < 7070 + 1024);
    CHECK(port_of(&seats[0]) != port_of(&seats[1]));
    connect_to(&seats[0], "b");
    wait_for(&seats[1], "accepted\n");
    stand_up_all(seats, 2);
}

/* Whoever connects is accepted with it. */
static void who_listens_has_the_congestion_control_that_is_named(void)
{
    static const char *const names[] = {"reno", "cubic"};

    for (size_t i = 0; i < 2; i++) {
        struct seat seat = {.closed = 0};
        char name[PSD_CONGESTION_NAME] = "";
        socklen_t size = sizeof name - 1;

        if (psd_congestion_check(names[i]) != PSD_OK)
            continue; /* it is not for everybody */
        seat_config.congestion = names[i];
        sit(&seat, "a");
        CHECK(getsockopt(seat.endpoint->listener, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0);
        CHECK_TEXT(names[i], name);
        stand_up(&seat);
    }
    seat_config.congestion = NULL;
}

/* Opens two seats and returns the port of the first. What lies between them is another program's, and may
 * be free in a moment: the second is to have the very next. */
static unsigned open_neighbours(struct seat *first, struct seat *second)
{
    struct errand errand;
    char range[64];

    seat_where = "127.0.0.1:0";
    sit(first, "a");
    unsigned port = port_of(first);
    snprintf(range, sizeof range, "127.0.0.1:%u-%u", port, port + 50);
    open_there(second, range, &errand);
    CHECK_OK(errand.status);
    CHECK(port_of(second) > port && port_of(second) <= port + 50);
    if (port_of(second) == port + 1)
        return port;
    stand_up(first);
    stand_up(second);
    return open_neighbours(first, second);
}

static void a_range_is_used_up_from_its_beginning(void)
{
    struct seat seats[4] = {{.closed = 0}};
    struct errand errand;
    char range[64];

    unsigned first = open_neighbours(&seats[0], &seats[1]);
    snprintf(range, sizeof range, "127.0.0.1:%u", first);
    open_there(&seats[2], range, &errand);
    CHECK_STATUS(PSD_ECONFIG, errand.status);
    snprintf(range, sizeof range, "127.0.0.1:%u-%u", first, first + 1);
    open_there(&seats[3], range, &errand);
    CHECK_STATUS(PSD_ECONFIG, errand.status);
    stand_up_all(seats, 4);
}

/* A port that is bound, with SO_REUSEADDR, by somebody who does not listen; and in *out the socket. */
static unsigned hold_a_port(int *out)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    int yes = 1;

    *out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(*out >= 0 && bind(*out, (const struct sockaddr *)&name, sizeof name) == 0);
    CHECK(setsockopt(*out, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    CHECK(getsockname(*out, (struct sockaddr *)&name, &size) == 0);
    return ntohs(name.sin_port);
}

static void what_is_held_for_another_is_passed_over(void)
{
    struct seat seats[2] = {{.closed = 0}};
    struct errand errand;
    char place[64];
    int fd = -1;
    unsigned port = hold_a_port(&fd);

    snprintf(place, sizeof place, "127.0.0.1:%u-%u", port, port + 50);
    open_there(&seats[0], place, &errand);
    CHECK_OK(errand.status);
    CHECK(port_of(&seats[0]) > port);
    snprintf(place, sizeof place, "127.0.0.1:%u", port);
    open_there(&seats[1], place, &errand);
    CHECK_OK(errand.status); /* who is told to have it has it */
    CHECK(port_of(&seats[1]) == port);
    stand_up_all(seats, 2);
    close(fd);
}

static void nobody_takes_the_port_of_the_peer_that_it_looks_for(void)
{
    struct seat seat = {.closed = 0};
    char place[64], peer[64];
    int fd = -1;
    unsigned port = hold_a_port(&fd);

    close(fd); /* it is free: the peer is not there yet */
    snprintf(peer, sizeof peer, "127.0.0.1:%u", port);
    snprintf(place, sizeof place, "127.0.0.1:%u-%u", port, port + 50);
    struct errand errand = {.seat = &seat, .address = "a", .towards = peer};
    CHECK_OK(psd_loop_create(&seat.loop));
    CHECK_OK(psd_loop_start(seat.loop));
    seat_where = place;
    on_loop(seat.loop, open_now, &errand);
    CHECK_OK(errand.status);
    CHECK(port_of(&seat) > port);
    stand_up(&seat);
}

/* Opens on the seat's loop and keeps the sentence. */
struct attempt {
    struct psd_endpoint_options options;
    psd_status status;
    char sentence[400];
    char address[80];
};

static void attempt_now(void *arg)
{
    struct attempt *attempt = arg;
    struct psd_endpoint *endpoint = NULL;

    attempt->status = psd_transport_tcp.open(&attempt->options, &endpoint);
    if (attempt->status == PSD_OK)
        snprintf(attempt->address, sizeof attempt->address, "%s",
                 psd_transport_tcp.address(endpoint));
    else
        snprintf(attempt->sentence, sizeof attempt->sentence, "%s", psd_error());
    psd_transport_tcp.close(endpoint);
}

static struct attempt attempt_with(struct psd_endpoint_options options)
{
    struct attempt attempt = {.options = options};
    struct psd_loop *loop = NULL;

    CHECK_OK(psd_loop_create(&loop));
    CHECK_OK(psd_loop_start(loop));
    attempt.options.handler = &seat_handler;
    attempt.options.loop = loop;
    if (!options.key) {
        attempt.options.key = seat_key;
        attempt.options.key_size = strlen(seat_key);
    }
    on_loop(loop, attempt_now, &attempt);
    psd_loop_destroy(loop);
    return attempt;
}

static void a_taken_port_is_told_with_what_to_do(void)
{
    struct seat seats[2] = {{.closed = 0}};
    char address[64], sentence[200];

    sit(&seats[0], "a");
    unsigned port = port_of(&seats[0]);
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    struct attempt attempt = attempt_with((struct psd_endpoint_options){.address = address});
    CHECK_STATUS(PSD_ECONFIG, attempt.status);
    snprintf(sentence, sizeof sentence,
             "port %u of tcp://127.0.0.1 is taken: choose another, or a range such as %u-%u", port,
             port, port + 99);
    CHECK_TEXT(sentence, attempt.sentence);
    stand_up(&seats[0]);
    CHECK_OK(attempt_with((struct psd_endpoint_options){.address = address}).status);
}

/* Not with what else has failed at the socket. */
static void a_taken_port_is_told_whatever_the_congestion_control(void)
{
    struct psd_endpoint endpoint = {.congestion = "none such", .listener = -1};
    struct seat seat = {.closed = 0};

    sit(&seat, "a");
    CHECK_STATUS(PSD_ECONFIG, psd_tcp_listen_open(&endpoint, seat.endpoint->address, NULL));
    CHECK(strstr(psd_error(), " of tcp://127.0.0.1 is taken: "));
    stand_up(&seat);
}

static void what_cannot_be_listened_at_is_refused(void)
{
    static const struct {
        const char *address, *beginning;
    } cases[] = {
        {"0.0.0.0", "tcp://0.0.0.0 and tcp://[::] are no address that others could connect to"},
        {"[::]:7070", "tcp://0.0.0.0 and tcp://[::] are no address that others could connect to"},
        {"", "tcp:// needs an address of this machine to listen at"},
        {NULL, "tcp:// needs an address of this machine to listen at"},
        {"192.0.2.7:0", "192.0.2.7 is no address of this machine: choose one that"},
        {"127.0.0.1:x", "tcp://127.0.0.1:x is no address: the port is a number up to 65535"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attempt attempt =
            attempt_with((struct psd_endpoint_options){.address = cases[i].address});
        CHECK_STATUS(PSD_ECONFIG, attempt.status);
        attempt.sentence[strlen(cases[i].beginning)] = '\0';
        CHECK_TEXT(cases[i].beginning, attempt.sentence);
    }
}

static void without_a_host_we_listen_where_a_peer_would_reach_us(void)
{
    struct attempt attempt =
        attempt_with((struct psd_endpoint_options){.address = ":0", .towards = "127.0.0.1:9"});

    CHECK_OK(attempt.status);
    CHECK(strncmp(attempt.address, "127.0.0.1:", 10) == 0);
    attempt = attempt_with((struct psd_endpoint_options){.address = "", .towards = "127.0.0.1"});
    CHECK_OK(attempt.status);
    attempt = attempt_with((struct psd_endpoint_options){.address = "", .towards = "x y"});
    CHECK_STATUS(PSD_ECONFIG, attempt.status);
}

static void members_may_speak_ipv6(void)
{
    struct seat seats[2] = {{.closed = 0}};

    if (attempt_with((struct psd_endpoint_options){.address = "[::1]:0"}).status != PSD_OK)
        SKIP("this machine has no IPv6");
    seat_where = "[::1]:0";
    sit_together(seats);
    wait_for(&seats[1], "accepted\n");
    stand_up(&seats[0]);
    wait_for(&seats[1], "accepted\nclosed: net://a has closed the connection\n");
    stand_up(&seats[1]);
}

/* Leaves the process one descriptor more than it has; returns what it could have before. */
static struct rlimit leave_one_descriptor(void)
{
    struct rlimit before = {0};
    int next = dup(0);

    close(next);
    CHECK(next >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    struct rlimit limit = {.rlim_cur = (rlim_t)next + 1, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return before;
}

static bool is_starved(const struct seat *seat)
{
    return seat->endpoint->refusals.starved > 0;
}

/* The one descriptor is the caller's. Whoever listens tries again with each beat, and no more often. */
static void who_comes_when_there_are_no_descriptors_waits_until_there_are(void)
{
    static const struct psd_net_config slow = {.job = 7, .timeout_ns = 60 * PSD_CLOCK_S};
    struct seat seats[2] = {{.config = &slow}, {.config = &slow}};

    sit(&seats[0], "a");
    sit(&seats[1], "b");
    struct rlimit before = leave_one_descriptor();
    uint64_t start = psd_clock_now();
    connect_to(&seats[0], "b");
    wait_until(&seats[1], is_starved);
    psd_clock_sleep_until(psd_clock_now() + 1200 * PSD_CLOCK_MS);
    uint64_t times = refusals_of(&seats[1]).starved;
    CHECK(times <= 2 + (psd_clock_now() - start) / (500 * PSD_CLOCK_MS));
    CHECK_TEXT("", seats[1].diary);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    wait_for(&seats[0], "connected\n");
    wait_for(&seats[1], "accepted\n");
    stand_up_all(seats, 2);
}

static void strange_options_are_refused(void)
{
    static const char long_key[65] = "";
    struct psd_endpoint *endpoint = NULL;
    struct psd_endpoint_options options = {.address = "127.0.0.1:0", .key = long_key};

    CHECK_STATUS(PSD_EINVAL, psd_transport_tcp.open(&options, &endpoint));
    options.key_size = 65;
    CHECK_STATUS(PSD_EINVAL, attempt_with(options).status);
    options.key_size = 15;
    CHECK_STATUS(PSD_ECONFIG, attempt_with(options).status);
    options.key_size = 16;
    CHECK_OK(attempt_with(options).status);
    options.config.streams = 65;
    CHECK_STATUS(PSD_EINVAL, attempt_with(options).status);
    options.config = (struct psd_net_config){.lanes = 65};
    CHECK_STATUS(PSD_EINVAL, attempt_with(options).status);
    CHECK(endpoint == NULL);
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(a_port_is_chosen_from_7070_on)
    RUN(who_listens_has_the_congestion_control_that_is_named)
    RUN(a_range_is_used_up_from_its_beginning)
    RUN(what_is_held_for_another_is_passed_over)
    RUN(nobody_takes_the_port_of_the_peer_that_it_looks_for)
    RUN(a_taken_port_is_told_with_what_to_do)
    RUN(a_taken_port_is_told_whatever_the_congestion_control)
    RUN(what_cannot_be_listened_at_is_refused)
    RUN(without_a_host_we_listen_where_a_peer_would_reach_us)
    RUN(members_may_speak_ipv6)
    RUN(who_comes_when_there_are_no_descriptors_waits_until_there_are)
    RUN(strange_options_are_refused)
}
