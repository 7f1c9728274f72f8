/* beats_test.c - who lives is heard, who is silent is told.
 *
 * The one that falls silent is the clock of the others: when it is told of, their time is over as well, had
 * they not been heard. A loop may well be kept from running for seconds, so that time is long. */
#include "net/tcp/stream_state.h"
#include "net_strangers.h"

#include <stdatomic.h>

static const struct psd_net_config member = {
    .job = 7, .timeout_ns = 5 * PSD_CLOCK_S, .caller_ns = 5 * PSD_CLOCK_S};

/* The loop does nothing else meanwhile, as if the process were stopped. */
static void freeze(void *arg)
{
    const atomic_bool *thaw = arg;

    while (!atomic_load(thaw))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

/* More than both kernels have room for. */
static unsigned char large[32 << 20];

/* As seats do, but what is large goes nowhere. */
static psd_status place_large(void *user, struct psd_conn *conn, const unsigned char *header,
                              size_t bytes, struct psd_place *place)
{
    struct seat *seat = user;

    if (bytes < sizeof large)
        return seat_handler.place(user, conn, header, bytes, place);
    place->spans[0].bytes = bytes;
    place->later = seat->later > 0;
    seat->later = 0;
    seat->placing = place->later ? NULL : conn;
    return PSD_OK;
}

/* The sender's window is closed from now on. */
static void sit_full(struct seat full[3], const struct psd_net_handler *handler,
                     struct psd_frame *frame)
{
    full[1].handler = handler;
    sit_as(full, "i", "j");
    sit(&full[2], "k");
    send_frames(&full[0], frame, 1);
}

/* An arrival from somebody else makes room for what was put off. */
static void make_room(struct seat full[3])
{
    struct psd_frame small = frame_of("small", ones, 4);

    wait_for(&full[0], "connected\n");
    wait_for(&full[1], "accepted\n");
    connect_to(&full[2], "j");
    send_frames(&full[2], &small, 1);
    wait_for(&full[1], "accepted\naccepted\ngot small\ngot large\n");
    wait_for(&full[0], "connected\nsent large\n");
}

static void who_is_silent_has_left_and_who_lives_has_not(void)
{
    struct seat idle[2] = {{.config = &member}, {.config = &member}};
    struct seat busy[2] = {{.config = &member}, {.config = &member, .later = 1}};
    struct seat asleep[2] = {{.config = &member}, {.config = &patient}};
    struct seat both[2] = {{.config = &member}, {.config = &member}};
    struct seat silent[2] = {{.config = &member}, {.config = &patient}};
    struct seat full[3] = {
        {.config = &member}, {.config = &member, .later = 1}, {.config = &member}};
    struct psd_net_handler handler = seat_handler;
    struct psd_frame frame = frame_of("1", ones, 4), big = frame_of("large", large, sizeof large);
    atomic_bool thaw = false, thaw_late = false;

    handler.place = place_large;
    sit_full(full, &handler, &big);
    sit_as(idle, "a", "b");
    sit_as(busy, "c", "d");
    sit_as(asleep, "e", "f");
    sit_as(silent, "g", "h");
    sit_as(both, "l", "m");
    send_frames(&busy[0], &frame, 1); /* which has no place yet */
    CHECK_OK(psd_loop_post(asleep[0].loop, freeze, &thaw));
    CHECK_OK(psd_loop_post(silent[1].loop, freeze, &thaw));
    CHECK_OK(psd_loop_post(both[0].loop, freeze, &thaw));
    CHECK_OK(psd_loop_post(both[1].loop, freeze, &thaw_late));
    wait_for(&silent[0], "connected\nclosed: net://h has been silent for 5 s\n");
    atomic_store(&thaw, true);
    wait_until(&silent[1], has_closed);
    psd_clock_sleep_until(psd_clock_now() + 1200 * PSD_CLOCK_MS); /* two beats */
    atomic_store(&thaw_late, true);
    psd_clock_sleep_until(psd_clock_now() + 1200 * PSD_CLOCK_MS);

    wait_for(&idle[0], "connected\n");
    wait_for(&idle[1], "accepted\n");
    wait_for(&busy[0], "connected\nsent 1\n");
    wait_for(&busy[1], "accepted\n");
    wait_for(&asleep[0], "connected\n"); /* and blames nobody for its sleep */
    wait_for(&asleep[1], "accepted\n");
    wait_for(&both[0], "connected\n"); /* nor does one whose peer has slept for longer */
    wait_for(&both[1], "accepted\n");
    make_room(full);
    stand_up_all(full, 3);
    stand_up_all(idle, 2);
    stand_up_all(busy, 2);
    stand_up_all(asleep, 2);
    stand_up_all(silent, 2);
    stand_up_all(both, 2);
}

/* As if nothing had come on the first stream for longer than the timeout. */
static void age_the_first(void *arg)
{
    const struct seat *seat = arg;
    struct psd_list *link = psd_list_first(&seat->endpoint->conns);

    PSD_CONTAINER_OF(link, struct psd_tcp_conn, link)->legs[0]->stream->box.heard_ns = 0;
}

static void who_has_waited_for_the_other_streams_is_not_silent(void)
{
    struct seat seat = {.config = &member};
    struct psd_trust *trust = new_trust(false);

    sit(&seat, "a");
    struct psd_channel *first = call_with_key(&seat, trust);
    say_open(first, 0, 2);
    wait_until(&seat, has_a_connection);
    on_loop(seat.loop, age_the_first, &seat);
    struct psd_channel *second = call_with_key(&seat, trust);
    say_open(second, 1, 2);
    wait_for(&seat, "accepted\n");
    psd_clock_sleep_until(psd_clock_now() + 1200 * PSD_CLOCK_MS); /* two beats */
    wait_for(&seat, "accepted\n");
    stand_up(&seat);
    psd_channel_destroy(first);
    psd_channel_destroy(second);
    psd_trust_destroy(trust);
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(who_is_silent_has_left_and_who_lives_has_not)
    RUN(who_has_waited_for_the_other_streams_is_not_silent)
}
