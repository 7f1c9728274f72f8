/* stream_hear.c - the owner hears what the lane has put into the box, on the loop.
 *
 *     sent ... --> opened | arrived --> place ... --> broken
 *
 * The owner may close the stream in any of them: after each one that is looked at again, and whoever is
 * at it keeps the stream meanwhile. */
#include "base/status.h"
#include "net/payload.h"
#include "net/tcp/stream_state.h"

#include <stdio.h>
#include <string.h>

void psd_stream_call_loop(struct psd_stream *stream)
{
    if (stream->is_split && !stream->box.loop_posted)
        stream->box.loop_posted =
            psd_loop_post(stream->options.loop, psd_stream_hear_post, stream) == PSD_OK;
}

static bool is_done(const struct psd_stream *stream)
{
    return stream->is_broken || stream->is_closed;
}

/* What the lane has put into the box; when it is over, why is in the box and stays. */
struct news {
    struct psd_frames written;
    struct psd_stream_event events[PSD_STREAM_EVENTS];
    size_t event_count;
    bool is_over;
};

static void take_news(struct psd_stream *stream, bool is_post, struct news *news)
{
    psd_stream_lock(stream);
    stream->box.loop_posted &= !is_post;
    news->written = stream->box.written;
    stream->box.written.first = NULL;
    news->event_count = stream->box.event_count;
    memcpy(news->events, stream->box.events, news->event_count * sizeof *news->events);
    stream->box.event_count = 0;
    news->is_over = stream->box.is_over;
    psd_stream_unlock(stream);
}

static void hear_sent(struct psd_stream *stream, struct psd_frames *written)
{
    struct psd_frame *frame;

    while (!is_done(stream) && (frame = psd_frames_take(written))) {
        stream->queued -= psd_payload_bytes(frame) + PSD_WIRE_HEAD;
        stream->options.handler->sent(stream->options.user, frame);
    }
}

/* Asks where a payload goes, and tells the lane. */
static psd_status ask(struct psd_stream *stream, const struct psd_stream_event *event)
{
    struct psd_place place = {.add = false};

    PSD_TRY(
        stream->options.handler->place(stream->options.user, event->header, event->bytes, &place));
    if (stream->is_closed)
        return PSD_OK;
    stream->is_put_off = place.later;
    if (place.later) {
        stream->put_off = *event;
        return PSD_OK;
    }
    psd_stream_lock(stream);
    stream->box.place = place;
    stream->box.has_place = true;
    if (stream->is_split || !stream->is_in_turn)
        psd_stream_call_lane(stream);
    psd_stream_unlock(stream);
    return PSD_OK;
}

static psd_status hear_event(struct psd_stream *stream, const struct psd_stream_event *event)
{
    const struct psd_stream_options *options = &stream->options;

    switch (event->news) {
    case PSD_READER_OPENED:
        return options->handler->opened(options->user, event->number, event->header);
    case PSD_READER_ARRIVED:
        return options->handler->arrived(options->user, event->header);
    default:
        return ask(stream, event);
    }
}

/* A handler has failed: that ends the stream, unless it has closed it, too. */
static void fail(struct psd_stream *stream)
{
    char why[PSD_STREAM_WHY];

    if (is_done(stream))
        return;
    snprintf(why, sizeof why, "%s", psd_error());
    stream->is_broken = true;
    psd_stream_stop(stream, false);
    stream->options.handler->broken(stream->options.user, false, why);
}

static void hear_events(struct psd_stream *stream, const struct psd_stream_event *events,
                        size_t count)
{
    for (size_t i = 0; i < count && !is_done(stream); i++) {
        if (hear_event(stream, &events[i]) != PSD_OK)
            fail(stream);
    }
}

static void hear_put_off(struct psd_stream *stream)
{
    struct psd_stream_event event = stream->put_off;

    if (!stream->asks_again || is_done(stream))
        return;
    stream->asks_again = false;
    if (stream->is_put_off && ask(stream, &event) != PSD_OK)
        fail(stream);
}

static void count(struct psd_net_refusals *refusals, enum psd_reader_refusal refusal)
{
    refusals->garbled += refusal == PSD_READER_GARBLED;
    refusals->foreign += refusal == PSD_READER_FOREIGN;
    refusals->replayed += refusal == PSD_READER_REPLAYED;
    refusals->old += refusal == PSD_READER_OLD;
}

static void hear_over(struct psd_stream *stream)
{
    if (is_done(stream))
        return;
    stream->is_broken = true;
    count(stream->options.refusals, stream->box.refusal);
    stream->options.handler->broken(stream->options.user, stream->box.is_bye, stream->box.why);
}

static void hear(struct psd_stream *stream, bool is_post)
{
    struct news news;

    stream->busy++;
    take_news(stream, is_post, &news);
    hear_sent(stream, &news.written);
    hear_events(stream, news.events, news.event_count);
    hear_put_off(stream);
    if (news.is_over)
        hear_over(stream);
    psd_stream_leave(stream);
}

void psd_stream_hear(struct psd_stream *stream)
{
    hear(stream, false);
}

void psd_stream_hear_post(void *arg)
{
    hear(arg, true);
}
