/* stream_hear_test.c - what is put off, refused and ended, in every handler. */
#include "net/tcp/stream_state.h"
#include "stream_ends.h"

static bool has_put_off_once(const struct end *end)
{
    return end->later == 1;
}

static bool has_put_off(const struct end *end)
{
    return end->later == 0;
}

static void ask_again_now(void *arg)
{
    psd_stream_ask_again(((struct end *)arg)->stream);
}

static void put_off(struct ends *ends)
{
    struct psd_frame frames[2] = {frame_of("1", "abcd", 4), frame_of("2", NULL, 0)};

    ends->end[1].later = 2;
    join(ends);
    send_frames(&ends->end[0], frames, 2);
    wait_until(&ends->end[1], has_put_off_once);
    wait_for(&ends->end[1], "opened\n");
    on_loop(ends->end[1].loop, ask_again_now, &ends->end[1]);
    wait_until(&ends->end[1], has_put_off);
    wait_for(&ends->end[1], "opened\n");
    on_loop(ends->end[1].loop, ask_again_now, &ends->end[1]);
    wait_for(&ends->end[1], "opened\ngot 1\ngot 2\n");
    on_loop(ends->end[1].loop, ask_again_now, &ends->end[1]); /* nobody waits */
    part(ends);
}

static void what_is_put_off_waits_until_it_is_asked_for_again(void)
{
    on_each_kind(put_off);
}

static void refuse(struct ends *ends)
{
    static const struct {
        psd_status opened, place, arrived;
        bool is_short;
        const char *diary;
    } cases[] = {
        {PSD_EPEER, PSD_OK, PSD_OK, false, "opened\nbroken: not open\n"},
        {PSD_OK, PSD_EPEER, PSD_OK, false, "opened\nbroken: no place\n"},
        {PSD_OK, PSD_OK, PSD_EPEER, false, "opened\ngot x\nbroken: not wanted\n"},
        {PSD_OK, PSD_OK, PSD_OK, true,
         "opened\nbroken: a payload of 4 bytes was given a place of 3 and 0 bytes\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ends again = {.in_clear = ends->in_clear, .is_split = ends->is_split};
        struct psd_frame frames[2] = {frame_of("x", "abcd", 4), frame_of("y", NULL, 0)};

        again.end[1].opened_status = cases[i].opened;
        again.end[1].place_status = cases[i].place;
        again.end[1].arrived_status = cases[i].arrived;
        again.end[1].is_short = cases[i].is_short;
        join(&again);
        send_frames(&again.end[0], frames, 2);
        wait_for(&again.end[1], cases[i].diary);
        stand_up(&again.end[1]);
        wait_for(&again.end[0], "opened\nbye: has closed the connection\n");
        part(&again);
    }
}

static void a_refused_frame_breaks_the_stream_and_the_peer_hears_bye(void)
{
    on_each_kind(refuse);
}

static void count_an_old_frame(struct ends *ends)
{
    ends->end[0].epoch = END_EPOCH - 1;
    join_silently(ends);
    on_loop(ends->end[0].loop, say_hello_now, &ends->end[0]);
    wait_for(&ends->end[1], "broken: has sent a frame of another epoch of the job's membership\n");
    CHECK(ends->end[1].refusals.old == 1 && ends->end[1].refusals.garbled == 0);
    part(ends);
}

static bool is_over(const struct end *end)
{
    return end->broken > 0;
}

/* Somebody on the way puts bytes of his own into the line, perhaps behind one of ours. */
static void hear_noise(struct ends *ends, bool is_first)
{
    static const unsigned char noise[PSD_WIRE_HEAD] = "poseidon";
    struct errand look = {.end = &ends->end[1]};
    char x[] = "x";
    size_t count = 0;

    connect_ends(ends);
    struct psd_channel *sender = ends->pair.channels[0];
    if (!is_first)
        CHECK_OK(psd_channel_write(sender, &(struct iovec){x, 1}, 1, &count));
    CHECK(send(psd_channel_fd(sender), noise, sizeof noise, 0) == sizeof noise);
    ends->end[1].channel = ends->pair.channels[1];
    ends->pair.channels[1] = NULL;
    sit(&ends->end[1], ends->is_split);
    wait_until(&ends->end[1], is_over);
    on_loop(ends->end[1].loop, look_now, &look);
    const char *why = ends->in_clear
                          ? "broken: has sent a frame that was altered on its way, or is none\n"
                          : "broken: sends what cannot be decrypted (";
    CHECK(strncmp(look.diary, why, strlen(why)) == 0);
    CHECK(ends->end[1].refusals.garbled == 1 && ends->end[1].refusals.old == 0);
    part(ends);
}

static void count_noise(struct ends *ends)
{
    struct ends again = {.in_clear = ends->in_clear, .is_split = ends->is_split};

    hear_noise(ends, true);
    hear_noise(&again, false);
}

static void what_is_refused_is_counted_once(void)
{
    on_each_kind(count_an_old_frame);
    on_each_kind(count_noise);
}

static void do_nothing(void *arg, unsigned events)
{
    (void)arg, (void)events;
}

/* Somebody else watches the socket, which can be watched once. */
static void take_the_watch(void *arg)
{
    static struct psd_watch watch;
    struct end *end = arg;

    watch = (struct psd_watch){.is_set = false};
    psd_loop_unwatch(end->lane, &end->stream->watch);
    CHECK_OK(psd_loop_watch(end->lane, end->stream->fd, PSD_LOOP_READ, do_nothing, NULL, &watch));
}

static void lose_the_watch(struct ends *ends)
{
    static const char lost[] = "opened\nbroken: cannot be listened to: watch descriptor ";
    struct psd_frame frame = frame_of("x", NULL, 0);
    struct errand look = {.end = &ends->end[1]};

    join(ends);
    wait_for(&ends->end[1], "opened\n");
    on_loop(ends->end[1].lane, take_the_watch, &ends->end[1]);
    send_frames(&ends->end[1], &frame, 1);
    wait_until(&ends->end[1], is_over);
    on_loop(ends->end[1].loop, look_now, &look);
    CHECK(strncmp(look.diary, lost, strlen(lost)) == 0);
    part(ends);
}

static void a_failure_of_our_own_is_told_as_the_peers_are(void)
{
    on_each_kind(lose_the_watch);
}

static bool has_sent_one(const struct end *end)
{
    return end->sent == 1;
}

/* The first frame that we write to a peer that has gone is answered with a reset, the next one fails. */
static void lose_the_peer(struct ends *ends, struct psd_frame *x, struct psd_frame mine[2])
{
    ends->end[1].later = 1;
    join(ends);
    send_frames(&ends->end[0], x, 1);
    wait_until(&ends->end[1], has_put_off);
    stand_up(&ends->end[0]);
    send_frames(&ends->end[1], &mine[0], 1);
    wait_until(&ends->end[1], has_sent_one);
    send_frames(&ends->end[1], &mine[1], 1);
}

static void hear_bye(struct ends *ends)
{
    struct psd_frame x = frame_of("x", "abcd", 4);
    struct psd_frame mine[2] = {frame_of("y", NULL, 0), frame_of("z", NULL, 0)};

    lose_the_peer(ends, &x, mine);
    for (int i = 0; i < 20; i++) /* the lane has its turn, and says nothing yet */
        wait_for(&ends->end[1], "opened\n");
    on_loop(ends->end[1].loop, ask_again_now, &ends->end[1]);
    wait_for(&ends->end[1], "opened\ngot x\nbye: has closed the connection\n");
    part(ends);
}

static void a_bye_is_heard_behind_what_was_put_off(void)
{
    on_each_kind(hear_bye);
}

static void beat_until_it_is_over(struct ends *ends)
{
    struct psd_frame x = frame_of("x", "abcd", 4);
    struct psd_frame mine[2] = {frame_of("y", NULL, 0), frame_of("z", NULL, 0)};
    struct errand look = {.end = &ends->end[1], .is_true = is_over};
    static const char gone[] = "opened\nbroken: is gone";

    lose_the_peer(ends, &x, mine);
    for (; !look.answer; look_away()) {
        on_loop(ends->end[1].loop, beat_now, &look);
        on_loop(ends->end[1].loop, look_now, &look);
    }
    CHECK(strncmp(look.diary, gone, strlen(gone)) == 0);
    part(ends);
}

static void a_lost_peer_is_not_waited_for_longer_than_a_beat(void)
{
    on_each_kind(beat_until_it_is_over);
}

static const char *end_it_at; /* the event at which an end closes its stream */
static bool is_ended;

static void end_it(struct end *end, const char *event)
{
    if (strncmp(event, end_it_at, strlen(end_it_at)) != 0)
        return;
    psd_stream_close(end->stream);
    end->stream = NULL; /* so that whatever is heard from now on fails the test */
    is_ended = true;
}

static bool has_ended(const struct end *end)
{
    (void)end;
    return is_ended;
}

static void close_at_each_event(struct ends *ends)
{
    static const char *const events[] = {"opened", "place", "got ", "sent", "broken", "bye"};

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct ends again = {.in_clear = ends->in_clear, .is_split = ends->is_split};
        struct psd_frame frames[2][3];

        for (size_t k = 0; k < 6; k++)
            frames[k / 3][k % 3] = frame_of("x", "abcd", 4);
        is_ended = false;
        end_it_at = events[i];
        again.end[1].react = end_it;
        again.end[1].arrived_status = strcmp(events[i], "broken") == 0 ? PSD_EPEER : PSD_OK;
        join(&again);
        send_frames(&again.end[1], frames[1], 3);
        send_frames(&again.end[0], frames[0], 3);
        if (strcmp(events[i], "bye") == 0)
            stand_up(&again.end[0]);
        wait_until(&again.end[1], has_ended);
        part(&again);
    }
}

static void the_owner_may_close_in_every_handler(void)
{
    on_each_kind(close_at_each_event);
}

int main(int argc, char **argv)
{
    RUN(what_is_put_off_waits_until_it_is_asked_for_again)
    RUN(a_refused_frame_breaks_the_stream_and_the_peer_hears_bye)
    RUN(what_is_refused_is_counted_once)
    RUN(a_failure_of_our_own_is_told_as_the_peers_are)
    RUN(a_bye_is_heard_behind_what_was_put_off)
    RUN(a_lost_peer_is_not_waited_for_longer_than_a_beat)
    RUN(the_owner_may_close_in_every_handler)
}
