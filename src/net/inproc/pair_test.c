/* pair_test.c - connections that end: from either side, at any moment, for want of memory. */
#include "base/alloc.h"
#include "base/clock.h"
#include "inproc_seats.h"

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
        psd_transport_inproc.send(luggage->seat->conn, &luggage->frames[i]);
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

static void both_sides_may_end_at_once(void)
{
    end_both(close_and_throw_away, 200);
    end_both(drop_and_throw_away, 200);
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

/* The receiver stays in its handler until the sender is gone. */
static sem_t is_in_place, may_go_on;

static void stay(struct seat *seat, const char *event)
{
    (void)seat;
    if (strcmp(event, "place") != 0)
        return;
    sem_post(&is_in_place);
    sem_wait(&may_go_on);
}

static void a_sender_that_leaves_in_between_has_its_memory_for_itself(void)
{
    struct seat seats[2] = {{.closed = 0}, {.react = stay}};

    sem_init(&is_in_place, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sit_together(seats);
    struct luggage luggage = pack(&seats[0], 2, FLOATS);
    on_loop(seats[0].loop, send_luggage, &luggage);
    sem_wait(&is_in_place);
    on_loop(seats[0].loop, drop_and_throw_away, &luggage);
    sem_post(&may_go_on);
    wait_for(&seats[1], "accepted\nclosed: inproc://a has closed the connection\n");
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

/* A payload so long that its sender leaves while it is moved. */
enum { LONG = 1 << 20 };
static float sink[LONG];
static sem_t is_moving;

static psd_status place_long(void *user, struct psd_conn *conn, const unsigned char *header,
                             size_t bytes, struct psd_place *place)
{
    (void)user, (void)conn, (void)header;
    place->spans[0].data = sink;
    place->spans[0].bytes = bytes;
    place->add = true;
    sem_post(&is_moving);
    return PSD_OK;
}

static void open_long(void *arg)
{
    static struct psd_net_handler with_long_places;
    struct seat *seat = arg;

    with_long_places = seat_handler;
    with_long_places.place = place_long;
    CHECK_OK(psd_transport_inproc.open(
        &(struct psd_endpoint_options){
            .address = "long", .handler = &with_long_places, .user = seat, .loop = seat->loop},
        &seat->endpoint));
}

static void a_sender_that_leaves_waits_for_what_is_being_moved(void)
{
    struct seat seats[2] = {{.closed = 0}};

    sem_init(&is_moving, 0, 0);
    sit(&seats[0], "a");
    sit(&seats[1], "b");
    on_loop(seats[1].loop, close_now, &seats[1]);
    on_loop(seats[1].loop, open_long, &seats[1]);
    for (int round = 0; round < 30; round++) {
        connect_to(&seats[0], "long");
        struct luggage luggage = pack(&seats[0], 1, LONG);
        on_loop(seats[0].loop, send_luggage, &luggage);
        sem_wait(&is_moving);
        on_loop(seats[0].loop, drop_and_throw_away, &luggage);
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

static void wait_there(void *arg)
{
    (void)arg;
    sem_post(&is_in_place);
    sem_wait(&may_go_on);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void send_without_memory(void *arg)
{
    psd_alloc_fail_at(0);
    send_now(arg);
    CHECK(psd_alloc_fail_at(-1));
}

static void a_connection_breaks_when_its_news_cannot_be_kept(void)
{
    struct seat seats[2] = {{.closed = 0}};
    struct psd_frame frame = frame_of("x", NULL, 0);
    struct errand errand = {.seat = &seats[0], .frames = &frame, .count = 1};

    sem_init(&is_in_place, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sit_together(seats);
    CHECK_OK(psd_loop_call(seats[1].loop, do_nothing, NULL));
    CHECK_OK(psd_loop_post(seats[1].loop, wait_there, NULL));
    sem_wait(&is_in_place);
    for (int i = 0; i < 16; i++) /* the loop's queue is full after these, and has to grow */
        CHECK_OK(psd_loop_post(seats[1].loop, do_nothing, NULL));
    on_loop(seats[0].loop, send_without_memory, &errand);
    wait_for(&seats[0], "connected\nclosed: the connection with inproc://b broke: out of memory\n");
    sem_post(&may_go_on);
    wait_for(&seats[1], "accepted\nclosed: the connection with inproc://a broke: out of memory\n");
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

int main(int argc, char **argv)
{
    RUN(both_sides_may_end_at_once)
    RUN(a_handler_may_drop_its_connection_or_close_its_endpoint)
    RUN(a_sender_that_leaves_in_between_has_its_memory_for_itself)
    RUN(a_sender_that_leaves_waits_for_what_is_being_moved)
    RUN(every_failed_allocation_is_told_or_heard)
    RUN(a_connection_breaks_when_its_news_cannot_be_kept)
}
