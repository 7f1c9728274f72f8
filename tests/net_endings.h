/* net_endings.h - connections that end, on every transport between loops: from either side, at any moment,
 * for want of memory.
 *
 *     seat_transport = &psd_transport_tcp;
 *     RUN_ENDINGS
 */
#ifndef PSD_TESTS_NET_ENDINGS_H
#define PSD_TESTS_NET_ENDINGS_H

#include "base/alloc.h"
#include "net_seats.h"

#include <semaphore.h>

/* Frames in memory that goes away as soon as it is the sender's again. */
struct luggage {
    struct seat *seat;
    struct psd_frame *frames; /* owned */
    float *payload;           /* owned */
    size_t count, floats;
};

static struct luggage pack(struct seat *seat, size_t count, size_t floats)
{
    struct luggage luggage = {.seat = seat, .count = count, .floats = floats};

    luggage.frames = psd_alloc_zero(count, sizeof *luggage.frames);
    luggage.payload = psd_alloc_zero(floats, sizeof *luggage.payload);
    CHECK(luggage.frames && luggage.payload);
    for (size_t i = 0; i < count; i++)
        luggage.frames[i] = frame_of("x", luggage.payload, floats * sizeof *luggage.payload);
    return luggage;
}

static void send_luggage(void *arg)
{
    struct luggage *luggage = arg;

    for (size_t i = 0; i < luggage->count && luggage->seat->conn; i++)
        seat_transport->send(luggage->seat->conn, &luggage->frames[i]);
}

static void throw_away(struct luggage *luggage)
{
    psd_alloc_free(luggage->frames);
    psd_alloc_free(luggage->payload);
}

static void close_and_throw_away(void *arg)
{
    struct luggage *luggage = arg;

    close_now(luggage->seat);
    throw_away(luggage);
}

static void drop_and_throw_away(void *arg)
{
    struct luggage *luggage = arg;

    drop_now(luggage->seat);
    throw_away(luggage);
}

/* Both sides are full of frames, and `end` ends them at nearly the same time. */
static void end_both(void (*end)(void *arg), unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        struct seat seats[2] = {{.closed = 0}};
        struct luggage luggage[2];

        sit_together(seats);
        for (size_t i = 0; i < 2; i++)
            luggage[i] = pack(&seats[i], 20, FLOATS);
        for (size_t i = 0; i < 2; i++)
            CHECK_OK(psd_loop_post(seats[i].loop, send_luggage, &luggage[i]));
        psd_clock_sleep_until(psd_clock_now() + 5 * PSD_CLOCK_US * (round % 8));
        for (size_t i = 0; i < 2; i++)
            CHECK_OK(psd_loop_post(seats[i].loop, end, &luggage[i]));
        for (size_t i = 0; i < 2; i++)
            stand_up(&seats[i]);
    }
}

static unsigned often = 200; /* how often things are tried that have to meet */

static void both_sides_may_end_at_once(void)
{
    end_both(close_and_throw_away, often);
    end_both(drop_and_throw_away, often);
}

/* What a seat does inside one of its handlers. */
static const char *moment;
static bool closes_all;

static void end_it(struct seat *seat, const char *event)
{
    if (strcmp(event, moment) != 0)
        return;
    seat->is_done = true;
    if (closes_all)
        close_now(seat);
    else
        drop_now(seat);
}

static void end_everything_at(const char *event, bool all)
{
    struct seat seats[2] = {{.react = end_it}, {.react = end_it, .later = 1}};
    struct psd_frame frames[2][3];

    moment = event;
    closes_all = all;
    sit(&seats[0], "a");
    sit(&seats[1], "b");
    for (size_t i = 0; i < 6; i++)
        frames[i / 3][i % 3] = frame_of("x", ones, sizeof ones);
    connect_to(&seats[0], "b");
    for (size_t i = 0; i < 2; i++) {
        struct luggage luggage = {.seat = &seats[i], .frames = frames[i], .count = 3};
        on_loop(seats[i].loop, send_luggage, &luggage);
    }
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

static void a_handler_may_drop_its_connection_or_close_its_endpoint(void)
{
    static const char *const events[] = {"accepted", "connected", "place",
                                         "got ",     "sent ",     "closed: "};

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        fprintf(stderr, "    in %s\n", events[i]);
        for (int round = 0; round < 10; round++) {
            end_everything_at(events[i], false);
            end_everything_at(events[i], true);
        }
    }
}

/* A payload so long that its sender leaves while it is moved. */
enum { LONG = 1 << 20 };
static float sink[LONG];
static sem_t is_moving;
static unsigned dropped; /* connections so far */

static bool has_heard_all(const struct seat *seat)
{
    return seat->closed == dropped;
}

static psd_status place_long(void *user, struct psd_conn *conn, const unsigned char *header,
                             size_t bytes, struct psd_place *place)
{
    struct seat *seat = user;

    (void)header;
    seat->placing = conn;
    place->spans[0].data = sink;
    place->spans[0].bytes = bytes;
    place->add = true;
    sem_post(&is_moving);
    return PSD_OK;
}

static void a_sender_that_leaves_waits_for_what_is_being_moved(void)
{
    struct psd_net_handler with_long_places = seat_handler;
    struct seat seats[2] = {{.closed = 0}, {.handler = &with_long_places}};

    with_long_places.place = place_long;
    sem_init(&is_moving, 0, 0);
    sit(&seats[0], "a");
    sit(&seats[1], "b");
    for (dropped = 1; dropped <= 30; dropped++) {
        connect_to(&seats[0], "b");
        struct luggage luggage = pack(&seats[0], 1, LONG);
        on_loop(seats[0].loop, send_luggage, &luggage);
        sem_wait(&is_moving);
        on_loop(seats[0].loop, drop_and_throw_away, &luggage);
        wait_until(&seats[1], has_heard_all);
    }
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

enum { SOME = 40 };

static bool is_settled(const struct seat *seat)
{
    return seat->sent == SOME || seat->closed > 0;
}

/* Sits, connects, sends; whatever fails is either told by a status or heard as closed. True: nothing
 * failed. */
static bool try_all(struct seat seats[2], struct psd_frame *frames)
{
    struct errand errands[2] = {{.seat = &seats[0], .address = "a"},
                                {.seat = &seats[1], .address = "b"}};

    for (size_t i = 0; i < 2; i++)
        on_loop(seats[i].loop, open_now, &errands[i]);
    if (errands[0].status || errands[1].status)
        return false;
    errands[0].address = "b";
    on_loop(seats[0].loop, connect_now, &errands[0]);
    if (errands[0].status)
        return false;
    struct luggage luggage = {.seat = &seats[0], .frames = frames, .count = SOME};
    on_loop(seats[0].loop, send_luggage, &luggage);
    wait_until(&seats[0], is_settled);
    return seats[0].sent == SOME;
}

static void every_failed_allocation_is_told_or_heard(void)
{
    static struct psd_frame frames[SOME];
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct seat seats[2] = {{.closed = 0}};
        for (size_t i = 0; i < SOME; i++)
            frames[i] = frame_of("x", ones, sizeof ones);
        for (size_t i = 0; i < 2; i++) {
            CHECK_OK(psd_loop_create(&seats[i].loop));
            CHECK_OK(psd_loop_start(seats[i].loop));
        }
        psd_alloc_fail_at(n);
        bool is_fine = try_all(seats, frames);
        failed = psd_alloc_fail_at(-1);
        CHECK(is_fine || failed);
        for (size_t i = 0; i < 2; i++)
            stand_up(&seats[i]);
    }
}

#define RUN_ENDINGS                                              \
    RUN(both_sides_may_end_at_once)                              \
    RUN(a_handler_may_drop_its_connection_or_close_its_endpoint) \
    RUN(a_sender_that_leaves_waits_for_what_is_being_moved)      \
    RUN(every_failed_allocation_is_told_or_heard)

#endif
