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

static void hear_sent(struct psd_stream *stream)
{
    struct psd_frames written = {NULL, NULL};
    struct psd_frame *frame;

    pthread_mutex_lock(&stream->lock);
    psd_frames_append(&written, &stream->box.written);
    pthread_mutex_unlock(&stream->lock);
    while (!is_done(stream) && (frame = psd_frames_take(&written))) {
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
    pthread_mutex_lock(&stream->lock);
    stream->box.place = place;
    stream->box.has_place = true;
    if (stream->is_split || !stream->is_in_turn)
        psd_stream_call_lane(stream);
    pthread_mutex_unlock(&stream->lock);
    return PSD_OK;
}

static psd_status hear_event(struct psd_stream *stream, const struct psd_stream_event *event)
{
    const struct psd_stream_options *options = &stream->options;

    switch (event->news) {
    case PSD_READER_OPENED:
        return options->handler->opened(options->user, event->header);
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

static void hear_events(struct psd_stream *stream)
{
    struct psd_stream_event events[PSD_STREAM_EVENTS];

    pthread_mutex_lock(&stream->lock);
    size_t count = stream->box.event_count;
    memcpy(events, stream->box.events, count * sizeof *events);
    stream->box.event_count = 0;
    pthread_mutex_unlock(&stream->lock);
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
    char why[PSD_STREAM_WHY];

    pthread_mutex_lock(&stream->lock);
    bool is_over = stream->box.is_over, is_bye = stream->box.is_bye;
    enum psd_reader_refusal refusal = stream->box.refusal;
    memcpy(why, stream->box.why, sizeof why);
    pthread_mutex_unlock(&stream->lock);
    if (!is_over || is_done(stream))
        return;
    stream->is_broken = true;
    count(stream->options.refusals, refusal);
    stream->options.handler->broken(stream->options.user, is_bye, why);
}

void psd_stream_hear(struct psd_stream *stream)
{
    stream->busy++;
    hear_sent(stream);
    hear_events(stream);
    hear_put_off(stream);
    hear_over(stream);
    psd_stream_leave(stream);
}

void psd_stream_hear_post(void *arg)
{
    struct psd_stream *stream = arg;

    pthread_mutex_lock(&stream->lock);
    stream->box.loop_posted = false;
    pthread_mutex_unlock(&stream->lock);
    psd_stream_hear(stream);
}
