/* stream_lane.c - a turn of the lane: it takes the loop's orders, writes, reads, and puts what came of it
 * into the box.
 *
 * A turn writes and reads a limited number of bytes, so that many streams share a lane fairly; what is
 * left waits for a post behind the others'. */
#include "base/clock.h"
#include "base/status.h"
#include "net/tcp/stream_state.h"

#include <stdio.h>
#include <string.h>

enum { BUDGET = 1 << 20 }; /* bytes that a turn writes, and that it reads */

void psd_stream_call_lane(struct psd_stream *stream)
{
    if (!stream->box.lane_posted)
        stream->box.lane_posted =
            psd_loop_post(stream->options.lane, psd_stream_lane_post, stream) == PSD_OK;
}

/* Puts what was found in this turn into the box; with the lock held. */
static void put_events(struct psd_stream *stream)
{
    if (stream->event_count == 0)
        return;
    assert(stream->box.event_count + stream->event_count <= PSD_STREAM_EVENTS);
    memcpy(stream->box.events + stream->box.event_count, stream->events,
           stream->event_count * sizeof *stream->events);
    stream->box.event_count += stream->event_count;
    stream->event_count = 0;
    psd_stream_call_loop(stream);
}

static void break_off(struct psd_stream *stream, bool is_bye, const char *why)
{
    psd_stream_lane_stop(stream, false);
    psd_stream_lock(stream);
    put_events(stream);
    stream->box.is_over = true;
    stream->box.is_bye = is_bye;
    stream->box.refusal = stream->reader.refusal;
    snprintf(stream->box.why, sizeof stream->box.why, "%s", why);
    psd_stream_call_loop(stream);
    psd_stream_unlock(stream);
}

/* All but the place; with the lock held. */
static void empty_box(struct psd_stream *stream)
{
    psd_frames_append(&stream->writer.waiting, &stream->box.frames);
    if (stream->box.has_open)
        psd_writer_put_open(&stream->writer, stream->box.open);
    if (stream->box.wants_beat)
        psd_writer_put_beat(&stream->writer);
    stream->is_hopeless = stream->box.wants_beat && stream->is_mute;
    stream->reads_on |= stream->box.wants_reading && !stream->is_asking;
    stream->box.has_open = stream->box.wants_beat = stream->box.wants_reading = false;
}

/* is_post: this is what the post was for, and the next order needs another one. */
static psd_status take_orders(struct psd_stream *stream, bool is_post)
{
    struct psd_place place = {.later = true};

    psd_stream_lock(stream);
    stream->box.lane_posted &= !is_post;
    if (!stream->is_stopped)
        empty_box(stream);
    if (stream->box.has_place)
        place = stream->box.place;
    stream->box.has_place = false;
    psd_stream_unlock(stream);
    if (place.later || stream->is_stopped)
        return PSD_OK;
    stream->is_asking = stream->is_deaf = false;
    stream->reads_on = true;
    return psd_reader_place(&stream->reader, &place);
}

static void add_event(struct psd_stream *stream, enum psd_reader_news news)
{
    const struct psd_wire_head *head = &stream->reader.head;

    assert(stream->event_count < PSD_STREAM_EVENTS);
    struct psd_stream_event *event = &stream->events[stream->event_count++];
    event->news = news;
    event->number = head->stream;
    event->bytes = (size_t)head->length;
    memcpy(event->header, head->header, sizeof event->header);
}

/* Passes on what the reader has found: to another thread at the end of the turn, which is near, as behind a
 * head nothing is read, and behind anything else only as far as the next head. */
static psd_status report(struct psd_stream *stream, enum psd_reader_news news)
{
    if (news == PSD_READER_BYE) {
        break_off(stream, true, "has closed the connection");
        return PSD_OK;
    }
    stream->is_asking = news == PSD_READER_HEAD;
    stream->writer.terms.number = stream->reader.terms.number;
    add_event(stream, news);
    if (stream->is_split)
        return PSD_OK;
    put_events(stream);
    psd_stream_hear(stream);
    return take_orders(stream, false);
}

static psd_status read_some(struct psd_stream *stream)
{
    enum psd_reader_news news = PSD_READER_NOTHING;

    psd_reader_turn(&stream->reader, BUDGET);
    while (!stream->is_asking && !stream->is_stopped) {
        PSD_TRY(psd_reader_step(&stream->reader, &news));
        if (news == PSD_READER_NOTHING)
            break;
        PSD_TRY(report(stream, news));
    }
    stream->reads_on = !stream->is_asking && !stream->reader.is_dry;
    return PSD_OK;
}

/* Puts what has been done into the box, and comes again if more is to be done. */
static void close_turn(struct psd_stream *stream, uint64_t read_before, uint64_t written_before)
{
    struct psd_writer *writer = &stream->writer;
    bool writes_on = !writer->is_blocked && !stream->is_mute && !psd_writer_is_idle(writer) &&
                     writer->terms.number != PSD_WIRE_ANY;
    bool has_read = stream->reader.total != read_before;
    bool has_written = writer->total != written_before;
    uint64_t now = has_read || has_written ? psd_clock_now() : 0;

    psd_stream_lock(stream);
    put_events(stream);
    if (has_read)
        stream->box.heard_ns = now;
    if (has_written && !stream->box.wrote_ns)
        stream->box.wrote_ns = now;
    if (writer->written.first) {
        psd_frames_append(&stream->box.written, &writer->written);
        psd_stream_call_loop(stream);
    }
    if (writes_on || stream->reads_on)
        psd_stream_call_lane(stream);
    psd_stream_unlock(stream);
}

/* What fails is ours, and told in the form of what the peer does. */
static psd_status watch(struct psd_stream *stream)
{
    unsigned events = stream->is_deaf ? 0 : PSD_LOOP_READ;

    if (stream->writer.is_blocked && !stream->is_mute)
        events |= PSD_LOOP_WRITE;
    if (!stream->is_stopped && !stream->is_asking && !stream->reads_on)
        psd_reader_rest(&stream->reader);
    if (stream->is_stopped || (stream->watch.is_set && stream->watch.events == events))
        return PSD_OK;
    if (psd_loop_watch(stream->options.lane, stream->fd, events, psd_stream_lane_ready, stream,
                       &stream->watch) == PSD_OK)
        return PSD_OK;
    return psd_fail(PSD_EPEER, "cannot be listened to: %s", psd_error());
}

static void write_some(struct psd_stream *stream)
{
    if (stream->is_mute || psd_writer_write(&stream->writer, BUDGET) == PSD_OK)
        return;
    stream->is_mute = true;
    snprintf(stream->mute_why, sizeof stream->mute_why, "%s", psd_error());
}

/* A peer that has closed breaks our writing before we have read all that it has sent, its bye among it: so
 * that is read first, also when a place must be waited for, though not for longer than a beat. */
static bool has_lost_its_peer(const struct psd_stream *stream)
{
    bool hears_no_more = stream->is_asking ? stream->is_hopeless : !stream->reads_on;

    return stream->is_mute && !stream->is_stopped && hears_no_more;
}

/* Orders, writing, reading. Whatever it was that the socket became ready for, both are tried: whoever
 * sends and receives at the same speed is woken half as often. */
static psd_status work(struct psd_stream *stream, unsigned ready, bool is_post)
{
    stream->writer.is_blocked &= !ready;
    stream->is_deaf |= (ready & PSD_LOOP_READ) && stream->is_asking;
    PSD_TRY(take_orders(stream, is_post));
    if (stream->is_stopped)
        return PSD_OK;
    write_some(stream);
    if (ready & PSD_LOOP_READ || stream->reads_on || stream->is_mute)
        PSD_TRY(read_some(stream));
    if (has_lost_its_peer(stream))
        break_off(stream, false, stream->mute_why);
    return watch(stream);
}

static void turn(struct psd_stream *stream, unsigned ready, bool is_post)
{
    uint64_t read_before = stream->reader.total, written_before = stream->writer.total;

    if (work(stream, ready, is_post) != PSD_OK)
        break_off(stream, false, psd_error());
    if (!stream->is_stopped)
        close_turn(stream, read_before, written_before);
}

static void take_turn(struct psd_stream *stream, unsigned ready, bool is_post)
{
    if (stream->is_split) {
        turn(stream, ready, is_post);
        return;
    }
    stream->busy++;
    stream->is_in_turn = true;
    turn(stream, ready, is_post);
    stream->is_in_turn = false;
    psd_stream_hear(stream);
    psd_stream_leave(stream);
}

void psd_stream_lane_ready(void *arg, unsigned ready)
{
    take_turn(arg, ready, false);
}

void psd_stream_lane_post(void *arg)
{
    take_turn(arg, 0, true);
}

void psd_stream_lane_stop(struct psd_stream *stream, bool says_bye)
{
    stream->is_stopped = true;
    if (psd_loop_is_current(stream->options.lane)) /* or it has ended, and watches nothing */
        psd_loop_unwatch(stream->options.lane, &stream->watch);
    if (says_bye)
        psd_writer_say_bye(&stream->writer);
}
