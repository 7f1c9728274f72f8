/* stream_life_test.c - peers that live, and lines that are cut. */
#include "stream_ends.h"

#include <linux/filter.h>

static struct psd_stream_life life_of(struct end *end)
{
    struct errand errand = {.end = end};

    on_loop(end->loop, beat_now, &errand);
    return errand.life;
}

static void live(struct ends *ends)
{
    join(ends);
    wait_for(&ends->end[0], "opened\n");
    wait_for(&ends->end[1], "opened\n");
    uint64_t start = psd_clock_now();
    while (life_of(&ends->end[1]).heard_ns < start) /* until the first beat has come */
        life_of(&ends->end[0]);
    wait_for(&ends->end[1], "opened\n"); /* nobody hears of it */
    while (life_of(&ends->end[0]).stuck_ns != 0)
        ;
    part(ends);
}

static void beats_show_that_the_peer_lives(void)
{
    on_each_kind(live);
}

static void beat_often(struct ends *ends)
{
    join(ends);
    wait_for(&ends->end[0], "opened\n");
    wait_for(&ends->end[1], "opened\n");
    for (unsigned i = 0; i < 4; i++) {
        uint64_t start = psd_clock_now();
        life_of(&ends->end[0]);
        while (life_of(&ends->end[1]).heard_ns < start)
            CHECK(psd_clock_now() < start + 60 * PSD_CLOCK_S);
    }
    part(ends);
}

static void a_beat_does_not_stand_in_for_the_next(void)
{
    on_each_kind(beat_often);
}

static void let_nothing_in(int fd)
{
    struct sock_filter nothing = {.code = BPF_RET | BPF_K, .k = 0};
    struct sock_fprog program = {.len = 1, .filter = &nothing};

    CHECK(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
}

static void a_cut_line_is_told_by_what_is_not_acknowledged(void)
{
    struct ends ends = {.in_clear = true};
    struct psd_frame frame = frame_of("x", "abcd", 4);

    connect_channels(&ends.pair, true);
    int fd = psd_channel_fd(ends.pair.channels[1]);
    ends.end[0].channel = ends.pair.channels[0];
    ends.pair.channels[0] = NULL;
    sit(&ends.end[0], false);
    on_loop(ends.end[0].loop, say_hello_now, &ends.end[0]);
    while (life_of(&ends.end[0]).stuck_ns != 0)
        ;
    let_nothing_in(fd);
    uint64_t start = psd_clock_now(), stuck = 0;
    send_frames(&ends.end[0], &frame, 1);
    do {
        psd_clock_sleep_until(psd_clock_now() + 20 * PSD_CLOCK_MS);
        stuck = life_of(&ends.end[0]).stuck_ns;
    } while (!stuck || psd_clock_now() - stuck < 300 * PSD_CLOCK_MS);
    CHECK(stuck > start - 200 * PSD_CLOCK_MS);
    stand_up(&ends.end[0]);
    forget_channels(&ends.pair);
}

static bool is_stuck(const struct end *end)
{
    return psd_stream_queued(end->stream) > 0;
}

static void a_peer_that_does_not_read_is_not_taken_for_a_cut_line(void)
{
    struct ends ends = {.in_clear = true};
    static unsigned char payload[16 << 20];
    struct psd_frame frame = frame_of("x", payload, sizeof payload);

    connect_channels(&ends.pair, true);
    ends.end[0].channel = ends.pair.channels[0];
    ends.pair.channels[0] = NULL;
    sit(&ends.end[0], false);
    on_loop(ends.end[0].loop, say_hello_now, &ends.end[0]);
    send_frames(&ends.end[0], &frame, 1);
    for (uint64_t start = psd_clock_now(); psd_clock_now() - start < PSD_CLOCK_S;) {
        uint64_t now = psd_clock_now(); /* what comes between is no fault of the peer's */
        uint64_t stuck = life_of(&ends.end[0]).stuck_ns;
        CHECK(!stuck || now < stuck + 900 * PSD_CLOCK_MS);
        psd_clock_sleep_until(psd_clock_now() + 50 * PSD_CLOCK_MS);
    }
    wait_until(&ends.end[0], is_stuck);
    stand_up(&ends.end[0]);
    forget_channels(&ends.pair);
}

int main(int argc, char **argv)
{
    RUN(beats_show_that_the_peer_lives)
    RUN(a_beat_does_not_stand_in_for_the_next)
    RUN(a_cut_line_is_told_by_what_is_not_acknowledged)
    RUN(a_peer_that_does_not_read_is_not_taken_for_a_cut_line)
}
