/* net_contract.h - what every transport between loops promises (docs/net.md), run by its own tests.
 *
 *     seat_transport = &psd_transport_tcp;
 *     RUN_CONTRACT
 *
 * Connections have one stream here: the order of frames is looked at. */
#ifndef PSD_TESTS_NET_CONTRACT_H
#define PSD_TESTS_NET_CONTRACT_H

#include "base/alloc.h"
#include "net_seats.h"

static void frames_travel_between_two_loops(void)
{
    struct seat seats[2] = {{.closed = 0}};
    struct psd_frame there[2] = {frame_of("1", NULL, 0), frame_of("2", NULL, 0)};
    struct psd_frame back = frame_of("3", NULL, 0);

    sit_together(seats);
    send_frames(&seats[0], there, 2);
    wait_for(&seats[0], "connected\nsent 1\nsent 2\n");
    wait_for(&seats[1], "accepted\ngot 1\ngot 2\n");
    send_frames(&seats[1], &back, 1);
    wait_for(&seats[1], "accepted\ngot 1\ngot 2\nsent 3\n");
    wait_for(&seats[0], "connected\nsent 1\nsent 2\ngot 3\n");
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

static void frames_may_be_sent_before_the_connection_is_there(void)
{
    struct seat seats[2] = {{.closed = 0}};
    struct psd_frame early = frame_of("early", NULL, 0);

    sit(&seats[0], "a");
    sit(&seats[1], "b");
    connect_to(&seats[0], "b");
    send_frames(&seats[0], &early, 1);
    wait_for(&seats[1], "accepted\ngot early\n");
    wait_for(&seats[0], "connected\nsent early\n");
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

static void payloads_are_stored_or_added(void)
{
    static const float one[] = {1, 2}, two[] = {30, 40, 50};
    struct seat seats[2] = {{.closed = 0}, {.add = true}};
    struct psd_frame frames[2] = {frame_of("1", one, sizeof one), frame_of("2", one, sizeof one)};

    seats[1].memory[0] = seats[1].memory[4] = 100;
    for (size_t i = 0; i < 2; i++)
        frames[i].payload[1] = (struct psd_span){two, sizeof two};
    sit_together(seats);
    send_frames(&seats[0], frames, 2);
    wait_for(&seats[1], "accepted\ngot 1\ngot 2\n");
    stand_up(&seats[1]);
    stand_up(&seats[0]);
    CHECK(seats[1].memory[0] == 102 && seats[1].memory[1] == 4 && seats[1].memory[2] == 60);
    CHECK(seats[1].memory[4] == 200 && seats[1].memory[5] == 0);
}

static void who_drops_hears_nothing_and_the_peer_does(void)
{
    struct seat seats[2] = {{.closed = 0}};

    sit_together(seats);
    on_loop(seats[0].loop, drop_now, &seats[0]);
    wait_for(&seats[1], "accepted\nclosed: net://a has closed the connection\n");
    wait_for(&seats[0], "connected\n");
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

static void a_closing_endpoint_is_heard_by_its_peers(void)
{
    struct seat seats[2] = {{.closed = 0}};

    sit_together(seats);
    stand_up(&seats[1]);
    wait_for(&seats[0], "connected\nclosed: net://b has closed the connection\n");
    stand_up(&seats[0]);
}

static void a_refused_frame_closes_the_connection_for_both(void)
{
    static const struct {
        psd_status place, arrived;
        const char *diary;
    } cases[] = {{PSD_EPEER, PSD_OK, "accepted\nclosed: no place\n"},
                 {PSD_OK, PSD_EPEER, "accepted\ngot x\nclosed: not wanted\n"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seat seats[2] = {
            {.closed = 0}, {.place_status = cases[i].place, .arrived_status = cases[i].arrived}};
        struct psd_frame frames[2] = {frame_of("x", ones, 4), frame_of("y", ones, 4)};

        sit_together(seats);
        send_frames(&seats[0], frames, 2);
        wait_for(&seats[1], cases[i].diary);
        wait_for_end(&seats[0], "closed: net://b has closed the connection\n");
        stand_up(&seats[0]);
        stand_up(&seats[1]);
    }
}

static bool has_put_off(const struct seat *seat)
{
    return seat->later == 0;
}

static void what_is_put_off_is_asked_for_after_the_next_arrival(void)
{
    struct seat seats[3] = {{.closed = 0}, {.later = 1}};
    struct psd_frame frames[2] = {frame_of("1", ones, 4), frame_of("2", ones, 4)};

    sit_together(seats);
    sit(&seats[2], "c");
    connect_to(&seats[2], "b");
    wait_until(&seats[2], is_connected);
    send_frames(&seats[0], &frames[0], 1);
    wait_until(&seats[1], has_put_off);
    wait_for(&seats[1], "accepted\naccepted\n");
    send_frames(&seats[2], &frames[1], 1);
    wait_for(&seats[1], "accepted\naccepted\ngot 2\ngot 1\n");
    wait_for(&seats[0], "connected\nsent 1\n");
    for (size_t i = 0; i < 3; i++)
        stand_up(&seats[i]);
}

/* Connects back and sends on, all on one loop. */
static struct psd_frame ball;

static void play(struct seat *seat, const char *event)
{
    if (strcmp(event, "sent ") == 0 && seat->sent < 5)
        seat_transport->send(seat->conn, &ball);
}

static bool has_played(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->sent == 5 && seat->got == 5;
}

static void an_endpoint_may_connect_to_itself(void)
{
    struct seat seat = {.react = play};

    sit(&seat, "a");
    connect_to(&seat, "a");
    wait_until(&seat, is_connected);
    ball = frame_of("x", ones, 4);
    send_frames(&seat, &ball, 1);
    wait_until(&seat, has_played);
    stand_up(&seat);
}

enum { SEATS = 6, EACH = 400 };

struct crowd {
    struct seat seat;
    struct psd_conn *conns[SEATS];
    struct psd_frame frames[SEATS][EACH];
};

static struct crowd crowd[SEATS];

static bool has_all(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->got == (SEATS - 1) * EACH && seat->sent == (SEATS - 1) * EACH;
}

static void send_to_all(void *arg)
{
    struct crowd *one = arg;

    for (size_t to = 0; to < SEATS; to++) {
        if (&crowd[to] == one)
            continue;
        char address[80];
        seat_find(crowd[to].seat.name, address);
        CHECK_OK(seat_transport->connect(one->seat.endpoint, address, &one->conns[to]));
        for (size_t i = 0; i < EACH; i++) {
            one->frames[to][i] = frame_of("x", ones, sizeof ones);
            seat_transport->send(one->conns[to], &one->frames[to][i]);
        }
    }
}

static void many_loops_send_to_each_other_at_once(void)
{
    static const char *const names[SEATS] = {"a", "b", "c", "d", "e", "f"};

    for (size_t i = 0; i < SEATS; i++) {
        crowd[i].seat.add = true;
        sit(&crowd[i].seat, names[i]);
    }
    for (size_t i = 0; i < SEATS; i++)
        CHECK_OK(psd_loop_post(crowd[i].seat.loop, send_to_all, &crowd[i]));
    for (size_t i = 0; i < SEATS; i++)
        wait_until(&crowd[i].seat, has_all);
    for (size_t i = 0; i < SEATS; i++)
        stand_up(&crowd[i].seat);
    for (size_t i = 0; i < SEATS; i++)
        CHECK(crowd[i].seat.memory[0] == (SEATS - 1) * EACH &&
              crowd[i].seat.memory[FLOATS - 1] == (SEATS - 1) * EACH);
}

static bool has_got_six(const struct seat *seat)
{
    expect_no_end(seat);
    return seat->got == 6;
}

static void in_steady_state_nothing_is_allocated(void)
{
    struct seat seats[2] = {{.react = play}};

    sit_together(seats);
    ball = frame_of("x", ones, sizeof ones);
    send_frames(&seats[0], &ball, 1);
    wait_for(&seats[0], "connected\nsent x\nsent x\nsent x\nsent x\nsent x\n");
    psd_alloc_fail_at(0);
    send_frames(&seats[0], &ball, 1);
    wait_for(&seats[0], "connected\nsent x\nsent x\nsent x\nsent x\nsent x\nsent x\n");
    CHECK(!psd_alloc_fail_at(-1));
    wait_until(&seats[1], has_got_six); /* what is sent may still be on its way */
    stand_up(&seats[0]);
    stand_up(&seats[1]);
    CHECK(!has_closed(&seats[0]));
}

#define RUN_CONTRACT                                         \
    RUN(frames_travel_between_two_loops)                     \
    RUN(frames_may_be_sent_before_the_connection_is_there)   \
    RUN(payloads_are_stored_or_added)                        \
    RUN(who_drops_hears_nothing_and_the_peer_does)           \
    RUN(a_closing_endpoint_is_heard_by_its_peers)            \
    RUN(a_refused_frame_closes_the_connection_for_both)      \
    RUN(what_is_put_off_is_asked_for_after_the_next_arrival) \
    RUN(an_endpoint_may_connect_to_itself)                   \
    RUN(many_loops_send_to_each_other_at_once)               \
    RUN(in_steady_state_nothing_is_allocated)

#endif
