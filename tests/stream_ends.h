/* stream_ends.h - both ends of a stream, each with a loop of its own and perhaps a lane, that write down
 * what they hear.
 *
 *     struct ends ends = {.in_clear = true, .is_split = true};
 *     join(&ends);                                   connected, both have sent their open
 *     send_frames(&ends.end[0], &frame, 1);
 *     wait_for(&ends.end[1], "opened\ngot x\n");
 *     part(&ends);
 *
 * A frame has a name, which is its header; its payload lands in its receiver's memory. Frames sent are
 * counted. An end with `react` calls that at the end of each handler. */
#ifndef PSD_TESTS_STREAM_ENDS_H
#define PSD_TESTS_STREAM_ENDS_H

#include "base/clock.h"
#include "base/loop.h"
#include "base/status.h"
#include "net/tcp/kernel_tls.h"
#include "net/tcp/stream.h"
#include "stream_pair.h"

enum { END_EPOCH = 3, END_NUMBER = 2, END_MEMORY = 3 << 20 };

/* One side. All but the loops belongs to the loop's thread. */
struct end {
    struct psd_loop *loop, *lane;
    struct psd_channel *channel; /* until the stream has it */
    struct psd_stream *stream;
    uint16_t number;
    uint32_t epoch;
    struct psd_net_refusals refusals;
    char diary[4096];
    size_t length;
    unsigned got, sent, broken; /* how often */
    unsigned char *memory;      /* [END_MEMORY] */
    size_t border;              /* bytes of the first span, at most; 0: there is one span */
    bool add, is_short;         /* is_short: it gives a place that is too small */
    unsigned later;             /* times that it puts a frame off */
    psd_status opened_status, place_status, arrived_status;
    void (*react)(struct end *end, const char *event);
    bool is_quiet; /* writes nothing down */
};

struct ends {
    bool in_clear, in_kernel, is_split;
    struct channel_pair pair;
    struct end end[2];
};

static inline void hear(struct end *end, const char *event, const char *what)
{
    PSD_ON_LOOP(end->loop);
    CHECK(end->stream);
    if (!end->is_quiet && end->length < sizeof end->diary)
        end->length += (size_t)snprintf(end->diary + end->length, sizeof end->diary - end->length,
                                        "%s%s\n", event, what);
    if (end->react)
        end->react(end, event);
}

static inline psd_status end_opened(void *user, uint16_t number, const unsigned char *header)
{
    struct end *end = user;

    CHECK(number == END_NUMBER);
    CHECK_TEXT("hello", (const char *)header);
    hear(end, "opened", "");
    return end->opened_status ? psd_fail(end->opened_status, "not open") : PSD_OK;
}

static inline psd_status end_place(void *user, const unsigned char *header, size_t bytes,
                                   struct psd_place *place)
{
    struct end *end = user;

    (void)header;
    CHECK(end->stream && bytes <= END_MEMORY);
    size_t first = end->border && end->border < bytes ? end->border : bytes;
    place->spans[0].data = end->memory;
    place->spans[0].bytes = first - end->is_short;
    place->spans[1].data = end->memory + first;
    place->spans[1].bytes = bytes - first;
    place->add = end->add;
    place->later = end->later > 0;
    end->later -= place->later;
    if (end->react)
        end->react(end, "place");
    return end->place_status ? psd_fail(end->place_status, "no place") : PSD_OK;
}

static inline psd_status end_arrived(void *user, const unsigned char *header)
{
    struct end *end = user;

    end->got++;
    hear(end, "got ", (const char *)header);
    return end->arrived_status ? psd_fail(end->arrived_status, "not wanted") : PSD_OK;
}

static inline void end_sent(void *user, struct psd_frame *frame)
{
    struct end *end = user;

    (void)frame;
    CHECK(end->stream);
    end->sent++;
    if (end->react)
        end->react(end, "sent");
}

static inline void end_broken(void *user, bool is_bye, const char *why)
{
    struct end *end = user;

    end->broken++;
    hear(end, is_bye ? "bye: " : "broken: ", why);
}

static const struct psd_stream_handler end_handler = {
    .place = end_place,
    .arrived = end_arrived,
    .sent = end_sent,
    .opened = end_opened,
    .broken = end_broken,
};

/* --- things done on an end's loop ---------------------------------------------------------------- */

/* Calls fn(arg) on the loop, also when an allocation is made to fail on the way there. */
static inline void on_loop(struct psd_loop *loop, void (*fn)(void *arg), void *arg)
{
    psd_status status = psd_loop_call(loop, fn, arg);

    CHECK_OK(status == PSD_ENOMEM ? psd_loop_call(loop, fn, arg) : status);
}

struct errand {
    struct end *end;
    struct psd_frame *frames;
    size_t count;
    psd_status status;
    char diary[4096];
    bool (*is_true)(const struct end *end);
    bool answer;
    struct psd_stream_life life;
};

static inline void create_now(void *arg)
{
    struct errand *errand = arg;
    struct end *end = errand->end;
    struct psd_stream_options options = {.channel = end->channel,
                                         .loop = end->loop,
                                         .lane = end->lane,
                                         .handler = &end_handler,
                                         .user = end,
                                         .job = PAIR_JOB,
                                         .epoch = end->epoch ? end->epoch : END_EPOCH,
                                         .number = end->number ? end->number : END_NUMBER,
                                         .refusals = &end->refusals};

    end->channel = NULL;
    errand->status = psd_stream_create(&options, &end->stream);
}

static inline void say_hello_now(void *arg)
{
    struct end *end = arg;
    unsigned char hello[PSD_FRAME_HEADER] = "hello";

    if (end->stream)
        psd_stream_open(end->stream, hello);
}

static inline void send_now(void *arg)
{
    struct errand *errand = arg;

    for (size_t i = 0; i < errand->count && errand->end->stream; i++)
        psd_stream_send(errand->end->stream, &errand->frames[i]);
}

static inline void close_now(void *arg)
{
    struct end *end = arg;

    if (end->stream)
        psd_stream_close(end->stream);
    end->stream = NULL;
}

static inline void look_now(void *arg)
{
    struct errand *errand = arg;

    memcpy(errand->diary, errand->end->diary, sizeof errand->diary);
    errand->answer = errand->is_true && errand->is_true(errand->end);
}

static inline void beat_now(void *arg)
{
    struct errand *errand = arg;

    psd_stream_beat(errand->end->stream, &errand->life);
}

/* --- the same for tests -------------------------------------------------------------------------- */

/* As endpoints may: then no post ever needs memory. */
static inline void reserve_now(void *arg)
{
    CHECK_OK(psd_loop_reserve(arg, 8));
}

static inline void sit(struct end *end, bool is_split)
{
    struct errand errand = {.end = end};

    end->memory = calloc(1, END_MEMORY);
    CHECK(end->memory);
    CHECK_OK(psd_loop_create(&end->loop));
    CHECK_OK(psd_loop_start(end->loop));
    end->lane = end->loop;
    if (is_split) {
        CHECK_OK(psd_loop_create(&end->lane));
        CHECK_OK(psd_loop_start(end->lane));
    }
    on_loop(end->loop, reserve_now, end->loop);
    on_loop(end->lane, reserve_now, end->lane);
    on_loop(end->loop, create_now, &errand);
    CHECK_OK(errand.status);
}

static inline void stand_up(struct end *end)
{
    on_loop(end->loop, close_now, end);
    psd_loop_destroy(end->loop);
    if (end->lane != end->loop)
        psd_loop_destroy(end->lane);
    free(end->memory);
    end->loop = NULL;
}

static inline void connect_ends(struct ends *ends)
{
    int fds[2];

    connect_sockets(fds);
    connect_over(&ends->pair, ends->in_clear, ends->in_kernel, fds);
}

/* Connects, but sends nothing yet. */
static inline void join_silently(struct ends *ends)
{
    connect_ends(ends);
    for (int i = 0; i < 2; i++) {
        ends->end[i].channel = ends->pair.channels[i];
        ends->pair.channels[i] = NULL;
        sit(&ends->end[i], ends->is_split);
    }
}

static inline void join(struct ends *ends)
{
    join_silently(ends);
    for (int i = 1; i >= 0; i--)
        on_loop(ends->end[i].loop, say_hello_now, &ends->end[i]);
}

static inline void part(struct ends *ends)
{
    for (int i = 0; i < 2; i++) {
        if (ends->end[i].loop)
            stand_up(&ends->end[i]);
    }
    forget_channels(&ends->pair);
}

static inline void send_frames(struct end *end, struct psd_frame *frames, size_t count)
{
    on_loop(end->loop, send_now, &(struct errand){.end = end, .frames = frames, .count = count});
}

static inline struct psd_frame frame_of(const char *name, const void *data, size_t bytes)
{
    struct psd_frame frame = {.payload = {{data, bytes}}};

    snprintf((char *)frame.header, sizeof frame.header, "%s", name);
    return frame;
}

/* Leaves the processor to those who have to do something. */
static inline void look_away(void)
{
    psd_clock_sleep_until(psd_clock_now() + 50 * PSD_CLOCK_US);
}

static inline void wait_until(struct end *end, bool (*is_true)(const struct end *end))
{
    struct errand errand = {.end = end, .is_true = is_true};

    for (; !errand.answer; look_away())
        on_loop(end->loop, look_now, &errand);
}

/* What the end has heard, once it is this; until then nothing but its beginning. */
static inline void wait_for(struct end *end, const char *diary)
{
    struct errand errand = {.end = end};

    for (; strcmp(diary, errand.diary) != 0; look_away()) {
        on_loop(end->loop, look_now, &errand);
        if (strncmp(diary, errand.diary, strlen(errand.diary)) != 0)
            CHECK_TEXT(diary, errand.diary);
    }
}

/* Runs the test, which joins and parts the ends, for channels in clear, encrypted, and encrypted by the kernel
 * if it can, with the loop as lane and with another one. */
static inline void on_each_kind(void (*test)(struct ends *ends))
{
    static const char *const ways[] = {"encrypted", "in clear", "encrypted by the kernel"};

    for (unsigned kind = 0; kind < (psd_kernel_tls_is_there() ? 6 : 4); kind++) {
        unsigned way = kind / 2;
        struct ends ends = {.in_clear = way == 1, .in_kernel = way == 2, .is_split = kind & 1};
        fprintf(stderr, "    %s, %s\n", ways[way], ends.is_split ? "with a lane" : "on the loop");
        test(&ends);
    }
}

#endif
