/* stream_state.h - what a stream is made of: its lane's part, its loop's part, and the box between them.
 *
 *     stream.c         the loop's calls             the loop puts orders into the box
 *     stream_life.c    beats and signs of life      looks at the socket
 *     stream_lane.c    the lane's turns             takes orders, reads and writes, puts news
 *     stream_hear.c    the loop hears the news      and tells the owner
 *
 * Where lane and loop are one, the box is used all the same, and a lane's turn hears its news itself. */
#ifndef PSD_NET_TCP_STREAM_STATE_H
#define PSD_NET_TCP_STREAM_STATE_H

#include "net/reason.h"
#include "net/tcp/reader.h"
#include "net/tcp/stream.h"
#include "net/tcp/writer.h"

#include <pthread.h>

/* At most an opened or arrived, and a head, before the loop has heard of them: behind a head nothing is read
 * until its place is there. */
enum { PSD_STREAM_EVENTS = 2, PSD_STREAM_WHY = 4 * PSD_REASON_SIZE };

struct psd_stream_event {
    enum psd_reader_news news;
    uint16_t number; /* of the stream, as the head has it */
    unsigned char header[PSD_FRAME_HEADER];
    size_t bytes;
};

struct psd_stream {
    struct psd_stream_options options; /* constant, as are the next two */
    bool is_split;                     /* the lane is not the loop */
    int fd;                            /* the channel's */

    pthread_mutex_t lock; /* guards the box where it is split */
    struct {
        /* From the loop to the lane. */
        struct psd_frames frames;
        struct psd_place place;
        bool has_place, has_open, wants_beat, wants_reading;
        unsigned char open[PSD_FRAME_HEADER];

        /* From the lane to the loop. */
        struct psd_frames written;
        struct psd_stream_event events[PSD_STREAM_EVENTS];
        size_t event_count;
        bool is_over, is_bye;
        enum psd_reader_refusal refusal;
        char why[PSD_STREAM_WHY];
        uint64_t heard_ns; /* the latest byte from the peer */
        uint64_t wrote_ns; /* the first to it that no beat has found acknowledged */

        bool lane_posted, loop_posted; /* a post waits there; it keeps the stream */
    } box;

    /* The lane's. */
    struct psd_stream_event events[PSD_STREAM_EVENTS]; /* for the box, at the end of the turn */
    size_t event_count;
    struct psd_seal *seals[2]; /* of what we receive and send; owned; NULL: encrypted */
    struct psd_reader reader;
    struct psd_writer writer;
    struct psd_watch watch;
    bool is_asking;   /* a head waits for its place */
    bool is_deaf;     /* the socket has become ready meanwhile, and is not watched for reading */
    bool reads_on;    /* there may be more to read, whether the socket says so or not */
    bool is_mute;     /* writing has failed, for this reason; what had come before is still read */
    bool is_hopeless; /* and a beat has passed since, so that it is not waited for any more */
    char mute_why[PSD_STREAM_WHY];
    bool is_stopped; /* it touches nothing any more */

    /* The loop's. */
    struct psd_channel *channel; /* owned */
    struct psd_stream_event put_off;
    bool is_put_off, asks_again;
    bool is_broken;  /* the owner has heard so, or will in a moment */
    bool is_closed;  /* the owner has closed it, and hears nothing more */
    bool is_in_turn; /* where the lane is the loop: it is the lane now, and sees orders itself */
    unsigned busy;   /* functions that are at it, for whom a closed stream stays */
    size_t queued;   /* bytes */
    int unread;      /* bytes that waited in the kernel at the last beat */
    uint64_t
        probing_since; /* when we first saw that the peer leaves a probe unanswered; 0: it does not */
};

/* Where the lane is the loop, nobody else looks into the box. */
static inline void psd_stream_lock(struct psd_stream *stream)
{
    if (stream->is_split)
        pthread_mutex_lock(&stream->lock);
}

static inline void psd_stream_unlock(struct psd_stream *stream)
{
    if (stream->is_split)
        pthread_mutex_unlock(&stream->lock);
}

/* What may be called with the lock held. */
void psd_stream_call_lane(struct psd_stream *stream);
void psd_stream_call_loop(struct psd_stream *stream);

/* One turn of the lane: orders, writing, reading; a watch's function, and a post's. */
void psd_stream_lane_ready(void *arg, unsigned ready);
void psd_stream_lane_post(void *arg);

/* The lane stops for good, and says bye if asked to. Lane. */
void psd_stream_lane_stop(struct psd_stream *stream, bool says_bye);

/* The same for the loop, which waits for it. */
void psd_stream_stop(struct psd_stream *stream, bool says_bye);

/* Hears all that is in the box; and the post that does it. Loop. */
void psd_stream_hear(struct psd_stream *stream);
void psd_stream_hear_post(void *arg);

/* Somebody has done with the stream; frees it if it is closed and was the last. Loop. */
void psd_stream_leave(struct psd_stream *stream);

#endif
