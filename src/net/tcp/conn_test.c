/* conn_test.c - connections of several streams: all arrives, in whatever order. */
#include "base/alloc.h"
#include "base/random.h"
#include "net_strangers.h"

#include <signal.h>
#include <sys/wait.h>

enum { FRAMES = 60, LARGE = 700 << 10, SMALL = 1000 }; /* of which the first are large */

/* What is sent, and where it arrives: each frame has a place of its own. */
static struct pile {
    struct psd_frame frames[FRAMES];
    float *from, *into; /* owned */
    size_t at[FRAMES];  /* floats before it */
    size_t floats[FRAMES];
} pile;

static size_t floats_of(size_t i)
{
    return i < 3 ? LARGE / sizeof(float) - i : i % 7 == 0 ? 0 : i * SMALL / FRAMES;
}

static void make_pile(void)
{
    size_t floats = 0;

    for (size_t i = 0; i < FRAMES; i++) {
        pile.at[i] = floats;
        pile.floats[i] = floats_of(i);
        floats += pile.floats[i];
    }
    pile.from = psd_alloc_zero(floats, sizeof *pile.from);
    pile.into = psd_alloc_zero(floats, sizeof *pile.into);
    CHECK(pile.from && pile.into);
    psd_random_fill_normal(1, 2, 0, floats, pile.from);
    for (size_t i = 0; i < FRAMES; i++) {
        size_t cut = i % 3 ? pile.floats[i] / 3 : 0;
        pile.frames[i] = frame_of("", pile.from + pile.at[i], cut * sizeof(float));
        pile.frames[i].payload[1] =
            (struct psd_span){pile.from + pile.at[i] + cut, (pile.floats[i] - cut) * sizeof(float)};
        pile.frames[i].header[0] = (unsigned char)i;
    }
}

static void check_pile(float times)
{
    for (size_t k = 0; k < pile.at[FRAMES - 1] + pile.floats[FRAMES - 1]; k++)
        CHECK(pile.into[k] == times * pile.from[k]);
    psd_alloc_free(pile.from);
    psd_alloc_free(pile.into);
}

static psd_status place_on_pile(void *user, struct psd_conn *conn, const unsigned char *header,
                                size_t bytes, struct psd_place *place)
{
    size_t i = header[0], half = pile.floats[i] / 2;

    (void)user, (void)conn;
    CHECK(i < FRAMES && bytes == pile.floats[i] * sizeof(float));
    place->spans[0].data = pile.into + pile.at[i];
    place->spans[0].bytes = half * sizeof(float);
    place->spans[1].data = pile.into + pile.at[i] + half;
    place->spans[1].bytes = bytes - half * sizeof(float);
    place->add = true;
    return PSD_OK;
}

static psd_status arrived_on_pile(void *user, struct psd_conn *conn, const unsigned char *header)
{
    struct seat *seat = user;

    (void)conn, (void)header;
    seat->got++;
    return PSD_OK;
}

static unsigned wanted;

static bool has_got_all(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->got == wanted;
}

static bool has_sent_all(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->sent == wanted;
}

static void send_pile_over(const struct psd_net_config *config)
{
    struct psd_net_handler handler = seat_handler;
    struct seat seats[2] = {{.config = config, .handler = &handler},
                            {.config = config, .handler = &handler}};

    handler.place = place_on_pile;
    handler.arrived = arrived_on_pile;
    make_pile();
    sit_together(seats);
    for (unsigned round = 1; round <= 2; round++) {
        wanted = round * FRAMES;
        send_frames(&seats[0], pile.frames, FRAMES);
        wait_until(&seats[0], has_sent_all);
        wait_until(&seats[1], has_got_all);
    }
    wanted = FRAMES; /* and the other way */
    seats[0].got = seats[1].sent = 0;
    send_frames(&seats[1], pile.frames, FRAMES);
    wait_until(&seats[1], has_sent_all);
    wait_until(&seats[0], has_got_all);
    stand_up_all(seats, 2);
    check_pile(3);
}

static void frames_of_all_sizes_arrive_over_any_number_of_streams_and_lanes(void)
{
    static const struct psd_net_config configs[] = {
        {.job = 7, .streams = 1, .in_clear = true},
        {.job = 7, .streams = 3, .in_clear = true},
        {.job = 7, .lanes = 2, .in_clear = true},
        {.job = 7, .lanes = 2, .streams = 3, .in_clear = true},
        {.job = 7},
        {.job = 7, .streams = 3},
        {.job = 7, .lanes = 1},
        {.job = 7, .lanes = 2, .streams = 3},
    };

    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        fprintf(stderr, "    %u streams, %u lanes, %s\n", configs[i].streams, configs[i].lanes,
                configs[i].in_clear ? "in clear" : "encrypted");
        send_pile_over(&configs[i]);
    }
}

static const struct psd_net_config three = {.job = 7, .streams = 3, .lanes = 2};

static void the_end_of_one_stream_is_the_end_of_all(void)
{
    struct seat seats[2] = {{.config = &three}, {.config = &three}};

    sit_together(seats);
    stand_up(&seats[1]);
    wait_for(&seats[0], "connected\nclosed: net://b has closed the connection\n");
    stand_up(&seats[0]);
}

static void who_calls_is_named_by_where_it_listens(void)
{
    struct seat seats[2] = {{.config = &three}, {.config = &three}};

    sit_together(seats);
    stand_up(&seats[0]);
    wait_for(&seats[1], "accepted\nclosed: net://a has closed the connection\n");
    stand_up(&seats[1]);
}

/* Another process, which takes connections until it is killed. */
static pid_t start_victim(void)
{
    int pipes[2];
    char address[80] = "";

    CHECK(pipe(pipes) == 0);
    pid_t victim = fork();
    CHECK(victim >= 0);
    if (victim == 0) {
        struct seat seat = {.config = &three};
        sit(&seat, "b");
        seat_find("b", address);
        CHECK(write(pipes[1], address, sizeof address) == (ssize_t)sizeof address);
        for (;;)
            pause();
    }
    CHECK(read(pipes[0], address, sizeof address) == (ssize_t)sizeof address);
    seat_register("b", address);
    return victim;
}

/* And not by its silence, of which there would be other words. */
static void a_crash_is_heard_at_once(void)
{
    struct seat seat = {.config = &three};
    pid_t victim = start_victim();

    sit(&seat, "a");
    connect_to(&seat, "b");
    wait_for(&seat, "connected\n");
    CHECK(kill(victim, SIGKILL) == 0);
    wait_for(&seat, "connected\nclosed: net://b is gone\n");
    stand_up(&seat);
    CHECK(waitpid(victim, NULL, 0) == victim);
}

/* The two sides need not agree on streams and lanes: who connects decides. */
static void who_connects_decides_on_the_streams(void)
{
    static const struct psd_net_config five = {.job = 7, .streams = 5};
    struct seat seats[2] = {{.config = &five}, {.closed = 0}};

    sit_together(seats);
    wait_for(&seats[1], "accepted\n");
    stand_up_all(seats, 2);
}

/* Whether a socket is as it should be once members talk. */
static void check_socket(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {{IPPROTO_TCP, TCP_NOTSENT_LOWAT, 128 << 10},
                   {IPPROTO_TCP, TCP_NODELAY, 1},
                   {IPPROTO_TCP, TCP_USER_TIMEOUT, 0}, /* from now on beats tell who lives */
                   {SOL_SOCKET, SO_KEEPALIVE, 1}};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int value = -1;
        socklen_t size = sizeof value;
        CHECK(getsockopt(fd, options[i].level, options[i].name, &value, &size) == 0);
        CHECK(value == options[i].value);
    }
}

static void check_sockets(void *arg)
{
    struct psd_endpoint *endpoint = arg;

    PSD_LIST_EACH (link, &endpoint->conns) {
        struct psd_tcp_conn *conn = PSD_CONTAINER_OF(link, struct psd_tcp_conn, link);
        for (unsigned i = 0; i < conn->count; i++)
            check_socket(psd_stream_fd(conn->legs[i]->stream));
    }
}

static void streams_have_their_options_at_both_ends(void)
{
    struct seat seats[2] = {{.config = &three}, {.config = &three}};

    sit_together(seats);
    wait_for(&seats[0], "connected\n");
    wait_for(&seats[1], "accepted\n");
    for (int i = 0; i < 2; i++)
        on_loop(seats[i].loop, check_sockets, seats[i].endpoint);
    stand_up_all(seats, 2);
}

struct window {
    struct psd_endpoint *endpoint;
    size_t bytes;
    unsigned sockets; /* that have it */
};

static void look_at_window(struct window *window, int fd)
{
    int given = 0;
    socklen_t size = sizeof given;

    CHECK(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &given, &size) == 0);
    window->sockets += (size_t)given == window->bytes;
}

static void set_window(void *arg)
{
    struct window *window = arg;

    seat_transport->set_window(window->endpoint, window->bytes);
    PSD_LIST_EACH (link, &window->endpoint->callers) {
        struct psd_tcp_leg *leg = PSD_CONTAINER_OF(link, struct psd_tcp_leg, link);
        look_at_window(window, psd_channel_fd(leg->channel));
    }
    PSD_LIST_EACH (link, &window->endpoint->conns) {
        struct psd_tcp_conn *conn = PSD_CONTAINER_OF(link, struct psd_tcp_conn, link);
        for (unsigned i = 0; i < conn->count; i++)
            look_at_window(window, psd_stream_fd(conn->legs[i]->stream));
    }
}

static void a_window_is_that_of_all_streams_from_then_on(void)
{
    struct seat seats[2] = {{.config = &three}, {.config = &three}};

    sit_together(seats);
    for (size_t bytes = 32 << 10; bytes <= 128 << 10; bytes *= 2) {
        struct window window = {seats[0].endpoint, bytes, 0};
        on_loop(seats[0].loop, set_window, &window);
        CHECK(window.sockets == three.streams);
    }
    stand_up_all(seats, 2);
}

static bool has_a_caller(const struct seat *seat)
{
    return seat->endpoint->calling == 1;
}

static void a_window_is_that_of_callers_too(void)
{
    struct seat seat = {.config = &patient};

    sit(&seat, "a");
    int fd = call(&seat);
    wait_until(&seat, has_a_caller);
    struct window window = {seat.endpoint, 64 << 10, 0};
    on_loop(seat.loop, set_window, &window);
    CHECK(window.sockets == 1);
    stand_up(&seat);
    close(fd);
}

static psd_status place_badly(void *user, struct psd_conn *conn, const unsigned char *header,
                              size_t bytes, struct psd_place *place)
{
    psd_status status = seat_place(user, conn, header, bytes, place);

    place->add = bytes == 8;
    place->spans[0].bytes = bytes == 4 ? bytes : bytes - 2;
    place->spans[1].data = bytes == 12 ? NULL : place->spans[0].data;
    place->spans[1].bytes = bytes == 4 ? 1 : 2;
    return status;
}

static void a_place_that_does_not_fit_closes_the_connection(void)
{
    static const struct {
        size_t bytes;
        const char *diary;
    } cases[] = {
        {4, "accepted\nclosed: a payload of 4 bytes was given a place of 4 and 1 bytes\n"},
        {8, "accepted\nclosed: a payload of 8 bytes cannot be added to a place of 6 and 2 bytes: a "
            "border cuts a float\n"},
        {12, "accepted\nclosed: a payload of 12 bytes was given a place with memory for half of "
             "it\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_net_handler handler = seat_handler;
        struct seat seats[2] = {{.closed = 0}, {.handler = &handler}};
        struct psd_frame frame = frame_of("x", ones, cases[i].bytes);
        handler.place = place_badly;
        sit_together(seats);
        send_frames(&seats[0], &frame, 1);
        wait_for(&seats[1], cases[i].diary);
        wait_for_end(&seats[0], "closed: net://b has closed the connection\n");
        stand_up_all(seats, 2);
    }
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(frames_of_all_sizes_arrive_over_any_number_of_streams_and_lanes)
    RUN(the_end_of_one_stream_is_the_end_of_all)
    RUN(who_calls_is_named_by_where_it_listens)
    RUN(a_crash_is_heard_at_once)
    RUN(who_connects_decides_on_the_streams)
    RUN(streams_have_their_options_at_both_ends)
    RUN(a_window_is_that_of_all_streams_from_then_on)
    RUN(a_window_is_that_of_callers_too)
    RUN(a_place_that_does_not_fit_closes_the_connection)
}
