/* stream.c - what the endpoint's loop asks of a stream, and how a stream begins and ends. */
#include "net/tcp/stream.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "net/payload.h"
#include "net/tcp/stream_state.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

/* Bytes of a stream that may wait in the kernel before they are sent: enough for 10 Gbit/s while the lane
 * does something else for 0.1 ms, and so few that what is more urgent does not wait long behind them. */
enum { UNSENT = 128 << 10 };

/* Frames go at once, whatever their size. A socket that is not TCP's has neither, and needs neither. */
static void prepare_socket(int fd)
{
    int yes = 1, unsent = UNSENT;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

static psd_status make_seals(struct psd_stream *stream)
{
    unsigned char sending[PSD_CHANNEL_KEY], receiving[PSD_CHANNEL_KEY];

    if (!psd_channel_is_clear(stream->channel))
        return PSD_OK;
    psd_status status = psd_channel_keys(stream->channel, sending, receiving);
    if (status == PSD_OK)
        status = psd_seal_create(receiving, &stream->seals[0]);
    if (status == PSD_OK)
        status = psd_seal_create(sending, &stream->seals[1]);
    explicit_bzero(sending, sizeof sending);
    explicit_bzero(receiving, sizeof receiving);
    return status;
}

static void free_stream(struct psd_stream *stream)
{
    psd_reader_fini(&stream->reader);
    psd_seal_destroy(stream->seals[0]);
    psd_seal_destroy(stream->seals[1]);
    psd_channel_destroy(stream->channel);
    pthread_mutex_destroy(&stream->lock);
    psd_alloc_free(stream);
}

void psd_stream_leave(struct psd_stream *stream)
{
    stream->busy--;
    if (stream->busy > 0 || !stream->is_closed)
        return;
    psd_stream_lock(stream);
    bool is_kept = stream->box.loop_posted || stream->box.lane_posted;
    psd_stream_unlock(stream);
    if (!is_kept)
        free_stream(stream);
}

/* The first turn reads what the handshake may have left. */
static psd_status start(struct psd_stream *stream)
{
    stream->reads_on = true;
    psd_stream_lock(stream);
    psd_stream_call_lane(stream);
    bool is_posted = stream->box.lane_posted;
    psd_stream_unlock(stream);
    return is_posted ? PSD_OK : PSD_ENOMEM;
}

psd_status psd_stream_create(const struct psd_stream_options *options, struct psd_stream **out)
{
    struct psd_wire_terms terms = {options->job, options->epoch, options->number};
    struct psd_stream *stream = psd_alloc_zero(1, sizeof *stream);

    PSD_ON_LOOP(options->loop);
    if (!stream) {
        psd_channel_destroy(options->channel);
        return PSD_ENOMEM;
    }
    stream->options = *options;
    stream->channel = options->channel;
    stream->is_split = options->lane != options->loop;
    stream->fd = psd_channel_fd(options->channel);
    stream->box.heard_ns = psd_clock_now();
    pthread_mutex_init(&stream->lock, NULL);
    prepare_socket(stream->fd);
    psd_status status = make_seals(stream);
    if (status == PSD_OK)
        status = psd_reader_init(&stream->reader, stream->channel, stream->seals[0], &terms);
    psd_writer_init(&stream->writer, stream->channel, stream->seals[1], &terms);
    if (status == PSD_OK)
        status = start(stream);
    if (status == PSD_OK)
        *out = stream;
    else
        free_stream(stream);
    return status;
}

struct stop {
    struct psd_stream *stream;
    bool says_bye;
};

static void stop_now(void *arg)
{
    struct stop *stop = arg;

    psd_stream_lane_stop(stop->stream, stop->says_bye);
    stop->says_bye = false;
}

static bool has_lane_post(struct psd_stream *stream)
{
    psd_stream_lock(stream);
    bool is_posted = stream->box.lane_posted;
    psd_stream_unlock(stream);
    return is_posted;
}

/* Another lane has stopped when the call has run; a turn that was before it may have left a post, which
 * may have begun, and has ended when the second call has run. */
void psd_stream_stop(struct psd_stream *stream, bool says_bye)
{
    struct stop stop = {stream, says_bye};
    psd_status status = PSD_EINVAL;
    unsigned calls = 0;

    if (stream->is_split) {
        do {
            status = psd_loop_call(stream->options.lane, stop_now, &stop);
            calls += status == PSD_OK;
        } while (status == PSD_ENOMEM ||
                 (status == PSD_OK && (calls < 2 || has_lane_post(stream))));
    }
    if (status != PSD_OK) /* there is no other thread, or none any more */
        stop_now(&stop);
}

void psd_stream_close(struct psd_stream *stream)
{
    PSD_ON_LOOP(stream->options.loop);
    stream->busy++;
    psd_stream_stop(stream, true);
    psd_channel_destroy(stream->channel);
    stream->channel = NULL;
    stream->is_closed = true;
    psd_stream_leave(stream);
}

void psd_stream_open(struct psd_stream *stream, const unsigned char header[PSD_FRAME_HEADER])
{
    PSD_ON_LOOP(stream->options.loop);
    psd_stream_lock(stream);
    memcpy(stream->box.open, header, PSD_FRAME_HEADER);
    stream->box.has_open = true;
    psd_stream_call_lane(stream);
    psd_stream_unlock(stream);
}

void psd_stream_send(struct psd_stream *stream, struct psd_frame *frame)
{
    PSD_ON_LOOP(stream->options.loop);
    if (stream->is_broken || stream->is_closed)
        return;
    stream->queued += psd_payload_bytes(frame) + PSD_WIRE_HEAD;
    psd_stream_lock(stream);
    psd_frames_put(&stream->box.frames, frame);
    psd_stream_call_lane(stream);
    psd_stream_unlock(stream);
}

void psd_stream_ask_again(struct psd_stream *stream)
{
    PSD_ON_LOOP(stream->options.loop);
    if (!stream->is_put_off)
        return;
    stream->asks_again = true;
    psd_stream_lock(stream);
    if (!stream->box.loop_posted)
        stream->box.loop_posted =
            psd_loop_post(stream->options.loop, psd_stream_hear_post, stream) == PSD_OK;
    psd_stream_unlock(stream);
}

int psd_stream_fd(const struct psd_stream *stream)
{
    return stream->fd;
}

size_t psd_stream_queued(const struct psd_stream *stream)
{
    return stream->queued;
}
