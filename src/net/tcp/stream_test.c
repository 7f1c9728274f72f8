/* stream_test.c - frames between two ends of a connection, on every kind of channel and lane. */
#include "base/alloc.h"
#include "stream_ends.h"

static void travel(struct ends *ends)
{
    struct psd_frame there[2] = {frame_of("1", "abc", 3), frame_of("2", NULL, 0)};
    struct psd_frame back = frame_of("3", "defg", 4);

    join(ends);
    send_frames(&ends->end[0], there, 2);
    wait_for(&ends->end[1], "opened\ngot 1\ngot 2\n");
    send_frames(&ends->end[1], &back, 1);
    wait_for(&ends->end[0], "opened\ngot 3\n");
    CHECK(memcmp(ends->end[1].memory, "abc", 3) == 0);
    CHECK(memcmp(ends->end[0].memory, "defg", 4) == 0);
    CHECK(ends->end[0].sent == 2);
    part(ends);
}

static void frames_travel_both_ways(void)
{
    on_each_kind(travel);
}

static void travel_with_number(struct ends *ends)
{
    struct psd_frame there = frame_of("1", NULL, 0), back = frame_of("2", NULL, 0);

    ends->end[1].number = PSD_WIRE_ANY;
    join_silently(ends);
    on_loop(ends->end[1].loop, say_hello_now, &ends->end[1]);
    send_frames(&ends->end[1], &back, 1); /* and that waits until the number is known */
    on_loop(ends->end[0].loop, say_hello_now, &ends->end[0]);
    send_frames(&ends->end[0], &there, 1);
    wait_for(&ends->end[1], "opened\ngot 1\n");
    wait_for(&ends->end[0], "opened\ngot 2\n");
    part(ends);
}

static void who_is_called_learns_the_streams_number_from_its_peer(void)
{
    on_each_kind(travel_with_number);
}

/* --- payloads of every size, one after the other, from two spans into two spans ------------------- */

static const size_t sizes[] = {
    0,    1,    3,    4,      4,      87,     88,     92,      4,      4000,    4095,
    4096, 4097, 4100, 8192,   100,    65532,  65536,  65540,   131072, 262140,  262144,
    4,    4,    4,    262148, 500000, 524288, 524289, 1000004, 8,      3000000, 12,
};

enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char *source;
static size_t next_size;

/* Bytes of frame i begin at its own place of the source, so that a mix-up shows. */
static void check_stored(struct end *end, const char *event)
{
    if (strcmp(event, "got ") != 0)
        return;
    CHECK(memcmp(end->memory, source + next_size, sizes[next_size]) == 0);
    memset(end->memory, 0xee, sizes[next_size]);
    end->border = (next_size * 7919) % 5000 + 1;
    next_size++;
}

static void prepare_source(void)
{
    if (source)
        return;
    source = malloc(END_MEMORY + SIZES);
    CHECK(source);
    for (size_t i = 0; i < END_MEMORY + SIZES; i++)
        source[i] = (unsigned char)((i * 2654435761U) >> 13);
}

static bool has_all(const struct end *end)
{
    return end->got == SIZES;
}

static void send_all_sizes(struct ends *ends)
{
    struct psd_frame frames[SIZES];

    prepare_source();
    next_size = 0;
    for (size_t i = 0; i < SIZES; i++) {
        size_t cut = sizes[i] * (i % 3) / 2;
        frames[i] = frame_of("x", source + i, cut);
        frames[i].payload[1] = (struct psd_span){source + i + cut, sizes[i] - cut};
    }
    ends->end[1].react = check_stored;
    ends->end[1].is_quiet = true;
    join(ends);
    send_frames(&ends->end[0], frames, SIZES);
    wait_until(&ends->end[1], has_all);
    part(ends);
}

static void payloads_of_every_size_are_stored_in_their_order(void)
{
    on_each_kind(send_all_sizes);
}

/* --- sums ---------------------------------------------------------------------------------------- */

static void check_added(struct end *end, const char *event)
{
    const float *sums = (const float *)(const void *)end->memory;

    if (strcmp(event, "got ") != 0)
        return;
    size_t count = sizes[next_size] / sizeof *sums;
    for (size_t i = 0; i < count; i++)
        CHECK(sums[i] == (float)(i % 1001) + 0.5f);
    CHECK(sums[count] == 0.5f);
    for (size_t i = 0; i < count; i++)
        ((float *)(void *)end->memory)[i] = 0.5f;
    end->border = ((next_size * 7919) % 5000 + 1) * sizeof *sums;
    next_size++;
}

static void add_all_sizes(struct ends *ends)
{
    struct psd_frame frames[SIZES];
    static float numbers[END_MEMORY / sizeof(float)];

    next_size = 0;
    for (size_t i = 0; i < END_MEMORY / sizeof *numbers; i++)
        numbers[i] = (float)(i % 1001);
    for (size_t i = 0; i < SIZES; i++)
        frames[i] = frame_of("x", numbers, sizes[i] - sizes[i] % sizeof *numbers);
    ends->end[1].react = check_added;
    ends->end[1].is_quiet = ends->end[1].add = true;
    join(ends);
    for (size_t i = 0; i < END_MEMORY / sizeof *numbers; i++)
        ((float *)(void *)ends->end[1].memory)[i] = 0.5f;
    send_frames(&ends->end[0], frames, SIZES);
    wait_until(&ends->end[1], has_all);
    part(ends);
}

static void payloads_of_every_size_are_added(void)
{
    on_each_kind(add_all_sizes);
}

/* --- memory is given back ------------------------------------------------------------------------ */

static bool has_one(const struct end *end)
{
    return end->got > 0;
}

/* Both close in the middle of large frames, and their memory is gone at once. */
static void close_in_the_middle(struct ends *ends)
{
    enum { COUNT = 40, BYTES = 1 << 20 };
    struct psd_frame *frames = calloc(COUNT, sizeof *frames);
    unsigned char *payload = malloc(BYTES);

    CHECK(frames && payload);
    memset(payload, 1, BYTES);
    for (size_t i = 0; i < COUNT; i++)
        frames[i] = frame_of("x", payload, BYTES);
    ends->end[1].is_quiet = true;
    join(ends);
    send_frames(&ends->end[0], frames, COUNT);
    wait_until(&ends->end[1], has_one);
    on_loop(ends->end[0].loop, close_now, &ends->end[0]);
    memset(payload, 2, BYTES);
    free(payload);
    free(frames);
    stand_up(&ends->end[1]);
    part(ends);
}

static void when_close_returns_nobody_touches_frames_or_places(void)
{
    on_each_kind(close_in_the_middle);
}

static struct psd_frame ball;

static void play(struct end *end, const char *event)
{
    if (strcmp(event, "sent") == 0 && end->sent % 5 != 0)
        psd_stream_send(end->stream, &ball);
}

static bool has_five(const struct end *end)
{
    return end->sent == 5 && psd_stream_queued(end->stream) == 0;
}

static bool has_ten(const struct end *end)
{
    return end->sent == 10;
}

static bool got_ten(const struct end *end)
{
    return end->got == 10;
}

static void allocate_nothing(struct ends *ends)
{
    static const unsigned char payload[100000];

    ball = frame_of("x", payload, sizeof payload);
    ends->end[0].react = play;
    ends->end[1].add = true;
    join(ends);
    send_frames(&ends->end[0], &ball, 1);
    wait_until(&ends->end[0], has_five);
    psd_alloc_fail_at(0);
    send_frames(&ends->end[0], &ball, 1);
    wait_until(&ends->end[0], has_ten);
    wait_until(&ends->end[1], got_ten);
    CHECK(!psd_alloc_fail_at(-1));
    part(ends);
}

static void in_steady_state_nothing_is_allocated(void)
{
    on_each_kind(allocate_nothing);
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct ends ends = {.in_clear = true};
        struct end *end = &ends.end[0];
        struct errand errand = {.end = end};

        connect_channels(&ends.pair, true);
        end->channel = ends.pair.channels[0];
        ends.pair.channels[0] = NULL;
        CHECK_OK(psd_loop_create(&end->loop));
        CHECK_OK(psd_loop_start(end->loop));
        end->lane = end->loop;
        for (int i = 0; i < 2; i++) /* its two lists of posts are there */
            on_loop(end->loop, look_now, &errand);
        psd_alloc_fail_at(n);
        on_loop(end->loop, create_now, &errand);
        failed = psd_alloc_fail_at(-1);
        CHECK(failed == (end->stream == NULL));
        on_loop(end->loop, close_now, end);
        psd_loop_destroy(end->loop);
        forget_channels(&ends.pair);
    }
}

int main(int argc, char **argv)
{
    RUN(frames_travel_both_ways)
    RUN(who_is_called_learns_the_streams_number_from_its_peer)
    RUN(payloads_of_every_size_are_stored_in_their_order)
    RUN(payloads_of_every_size_are_added)
    RUN(when_close_returns_nobody_touches_frames_or_places)
    RUN(in_steady_state_nothing_is_allocated)
    RUN(create_survives_every_failed_allocation)
}
