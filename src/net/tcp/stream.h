/* stream.h - frames on one socket, read and written by its lane.
 *
 *     the endpoint's loop                              the stream's lane (another loop, or the same)
 *     psd_stream_send ----> [ frames to write ] ----->  writer: head, payload, CRC --> channel
 *     sent            <---- [ frames written  ] <-----
 *     place           <---- [ a head has come ] <-----  reader: head
 *          '------------->  [ a place for it  ] ----->  payload, straight to its place, or added
 *     arrived         <---- [ it is there     ] <-----
 *     broken          <---- [ why             ] <-----
 *
 * What crosses is in lists and fields guarded by the stream's lock, and either side has one post at a
 * time for all of it; where the lane is the loop itself, nothing is locked, nothing is posted for
 * reading, and place and arrived are asked at once. Handlers run on the endpoint's loop, and so do all
 * calls here; none of them calls a handler before it returns. A stream in use allocates nothing, but for
 * the kernel's next key, every 128 GB; it has a post on its lane and one on its loop at a time, for which
 * there is room after a while, or from the start by psd_loop_reserve. Payloads are not copied in user
 * space, except that what is to be added is read into a buffer that stays in the cache, and what OpenSSL
 * encrypts passes through its own.
 *
 * In clear a payload's CRC comes behind it, so what is added has been added when it turns out wrong: the
 * connection closes, and the job ends with it. */
#ifndef PSD_NET_TCP_STREAM_H
#define PSD_NET_TCP_STREAM_H

#include "base/loop.h"
#include "net/tcp/channel.h"
#include "net/tcp/wire.h"

struct psd_stream;

/* What the owner of a stream hears, on the endpoint's loop; the owner may close the stream in any of
 * them. */
struct psd_stream_handler {
    /* As in transport.h; only for data. */
    psd_status (*place)(void *user, const unsigned char *header, size_t bytes,
                        struct psd_place *place);
    psd_status (*arrived)(void *user, const unsigned char *header);
    void (*sent)(void *user, struct psd_frame *frame);

    /* The peer's first frame, which must be an open and is the only one, has come: with the
     * stream's `number`, and 40 bytes. Both sides send one. */
    psd_status (*opened)(void *user, uint16_t number, const unsigned char *header);

    /* Nothing more comes or goes: once, and the last that is heard. Frames not yet reported sent are the
     * sender's again. is_bye: the peer has closed on purpose. `why` goes on where "tcp://10.0.0.5:7070"
     * stands before it: "is gone", "has sent a frame of another job"; of a failure of place, arrived or
     * opened, and of a place that does not fit, it is that failure's own sentence. */
    void (*broken)(void *user, bool is_bye, const char *why);
};

struct psd_stream_options {
    struct psd_channel
        *channel;          /* owned from the call on, also if it fails; its handshake is done */
    struct psd_loop *loop; /* the endpoint's; borrowed until close, as is all below */
    struct psd_loop *lane; /* that reads and writes; may be `loop` */
    const struct psd_stream_handler *handler;
    void *user;
    uint64_t job; /* that all heads must have, as they must the next two */
    uint32_t epoch;
    uint16_t number;                   /* or PSD_WIRE_ANY, for whoever is called */
    struct psd_net_refusals *refusals; /* counted on the loop */
};

psd_status psd_stream_create(const struct psd_stream_options *options, struct psd_stream **out);

/* Says bye if that can be done at once, closes the socket and frees the stream. When this returns nobody
 * touches frames or places any more. No handler runs. */
void psd_stream_close(struct psd_stream *stream);

/* Puts our open in front of everything: 40 bytes for the peer's `opened`; copied. Once, before the first
 * frame or beat. */
void psd_stream_open(struct psd_stream *stream, const unsigned char header[PSD_FRAME_HEADER]);

/* Takes `frame`, which is given back by `sent`; those of one turn of the loop are written together. On a
 * stream that is broken it changes nothing, and the frame stays the sender's. */
void psd_stream_send(struct psd_stream *stream, struct psd_frame *frame);

/* Asks `place` again for the head that was put off (psd_place.later), if there is one: soon, not inside
 * this call. */
void psd_stream_ask_again(struct psd_stream *stream);

/* Its socket, for options; borrowed. */
int psd_stream_fd(const struct psd_stream *stream);

/* Bytes of the frames, heads included, that have been given to psd_stream_send and not yet reported. */
size_t psd_stream_queued(const struct psd_stream *stream);

/* Sends a beat unless something else is under way; and tells since when nothing has come from the peer
 * (psd_clock_now's clock), and since when the peer's kernel has acknowledged nothing of what was sent to
 * it, 0: nothing is outstanding (TCP_INFO). */
struct psd_stream_life {
    uint64_t heard_ns;
    uint64_t stuck_ns;
};
void psd_stream_beat(struct psd_stream *stream, struct psd_stream_life *out);

#endif
