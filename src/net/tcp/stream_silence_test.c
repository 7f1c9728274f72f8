/* stream_silence_test.c - what happens in the middle of a payload, of which a part has come that is not
 * worth a wake-up, or cannot be had. */
#include "net/tcp/channel_state.h"
#include "net/tcp/writer.h"
#include "stream_ends.h"

#include <sys/ioctl.h>

enum { WHOLE = 2 << 20, PART = 40000, PARTS = WHOLE / PART, END = 10 };

/* An end that receives, and a writer by hand, who has one frame for it. */
struct story {
    struct ends ends;
    int fd;                /* the receiver's */
    struct psd_seal *seal; /* NULL: encrypted */
    struct psd_writer writer;
    struct psd_frame frame;
    unsigned char *payload; /* owned; [WHOLE] */
    unsigned char end[END]; /* of a record; kept back */
};

static void make_writer(struct story *story, bool in_clear)
{
    struct psd_wire_terms terms = {PAIR_JOB, END_EPOCH, END_NUMBER};
    unsigned char keys[2][PSD_CHANNEL_KEY], hello[PSD_FRAME_HEADER] = "hello";
    struct psd_channel *channel = story->ends.pair.channels[0];

    if (in_clear) {
        CHECK_OK(psd_channel_keys(channel, keys[0], keys[1]));
        CHECK_OK(psd_seal_create(keys[0], &story->seal));
    }
    psd_writer_init(&story->writer, channel, story->seal, &terms);
    psd_writer_put_open(&story->writer, hello);
    psd_frames_put(&story->writer.waiting, &story->frame);
}

static void begin(struct story *story, const struct ends *ends)
{
    *story = (struct story){.payload = calloc(1, WHOLE)};
    CHECK(story->payload);
    story->frame = frame_of("x", story->payload, WHOLE);
    story->ends.in_clear = ends->in_clear;
    story->ends.in_kernel = ends->in_kernel;
    connect_ends(&story->ends);
    make_writer(story, ends->in_clear);
    story->ends.end[1].channel = story->ends.pair.channels[1];
    story->ends.pair.channels[1] = NULL;
    story->fd = psd_channel_fd(story->ends.end[1].channel);
    sit(&story->ends.end[1], ends->is_split);
}

static void end_story(struct story *story)
{
    part(&story->ends);
    psd_seal_destroy(story->seal);
    free(story->payload);
}

static void write_bytes(struct story *story, size_t bytes)
{
    uint64_t until = story->writer.total + bytes;

    for (; story->writer.total < until && !psd_writer_is_idle(&story->writer); look_away()) {
        story->writer.is_blocked = false;
        CHECK_OK(psd_writer_write(&story->writer, (size_t)(until - story->writer.total)));
    }
}

static int count_unread(const struct story *story)
{
    int bytes = 0;

    CHECK(ioctl(story->fd, FIONREAD, &bytes) == 0);
    return bytes;
}

/* Writes a part and keeps back the end of its last record, by another socket in place of the right one. */
static void write_but_the_end(struct story *story)
{
    static unsigned char bytes[2 * PART];
    struct psd_channel *channel = story->ends.pair.channels[0];
    int fds[2], fd = channel->socket.fd;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    channel->socket.fd = fds[0];
    write_bytes(story, PART);
    channel->socket.fd = fd;
    ssize_t count = recv(fds[1], bytes, sizeof bytes, 0), sent = count - END;
    CHECK(count > PART && send(fd, bytes, (size_t)sent, 0) == sent);
    memcpy(story->end, bytes + sent, END);
    close(fds[0]);
    close(fds[1]);
}

/* Writes part by part until some of the payload has come and nobody has read it: too little for a wake-up, or,
 * by the kernel's TLS, for a record. */
static void leave_some_unread(struct story *story)
{
    int unread = 0, wanted = story->ends.in_kernel ? 1 : PART / 2;

    for (int i = 0; i < PARTS / 2 && unread < wanted; i++) {
        if (story->ends.in_kernel)
            write_but_the_end(story);
        else
            write_bytes(story, PART);
        psd_clock_sleep_until(psd_clock_now() + 20 * PSD_CLOCK_MS);
        unread = count_unread(story);
    }
    CHECK(unread >= wanted);
}

static uint64_t heard_at(struct end *end)
{
    struct errand errand = {.end = end};

    on_loop(end->loop, beat_now, &errand);
    return errand.life.heard_ns;
}

static void fall_silent(struct ends *ends)
{
    struct story story;
    struct end *end = &story.ends.end[1];
    uint64_t start = psd_clock_now(), before = 0, heard = 0;

    begin(&story, ends);
    leave_some_unread(&story);
    do {
        before = heard;
        psd_clock_sleep_until(psd_clock_now() + 20 * PSD_CLOCK_MS);
        heard = heard_at(end);
        CHECK(psd_clock_now() - start < 60 * PSD_CLOCK_S);
    } while (heard != before);
    CHECK((count_unread(&story) > 0) == ends->in_kernel);
    if (ends->in_kernel)
        CHECK(send(story.ends.pair.channels[0]->socket.fd, story.end, END, 0) == END);
    write_bytes(&story, WHOLE);
    wait_for(end, "opened\ngot x\n");
    end_story(&story);
}

static void a_silence_within_a_payload_begins_with_the_last_bytes(void)
{
    on_each_kind(fall_silent);
}

static void die(struct ends *ends)
{
    struct story story;

    begin(&story, ends);
    leave_some_unread(&story);
    psd_channel_destroy(story.ends.pair.channels[0]);
    story.ends.pair.channels[0] = NULL;
    wait_for(&story.ends.end[1], "opened\nbroken: is gone\n");
    end_story(&story);
}

static void an_end_within_a_payload_is_heard_at_once(void)
{
    on_each_kind(die);
}

int main(int argc, char **argv)
{
    RUN(a_silence_within_a_payload_begins_with_the_last_bytes)
    RUN(an_end_within_a_payload_is_heard_at_once)
}
