/* writer.h - frames become the bytes of one stream.
 *
 *     waiting ---> [ under way: head, span 0, span 1, CRC | head, ... ] ===> channel
 *     written <---------------- whole frames, in their order ----'
 *
 * One call writes from as many frames as have room in its vector, so that small ones go together, and of
 * large ones as much as stays in the cache, because the CRC is calculated over it, too: just before, where
 * it goes along, else just after, over what the channel has taken. Then a frame is not looked at again.
 * Belongs to the stream's lane. */
#ifndef PSD_NET_TCP_WRITER_H
#define PSD_NET_TCP_WRITER_H

#include "net/tcp/channel.h"
#include "net/tcp/frames.h"
#include "net/tcp/seal.h"
#include "net/tcp/wire.h"

enum {
    PSD_WRITER_SLOTS = 16,       /* frames under way, at most */
    PSD_WRITER_PART = 512 << 10, /* bytes of one call in clear */
};

/* A frame under way. */
struct psd_writer_slot {
    struct psd_frame *frame; /* borrowed */
    uint64_t sequence;
    size_t payload;    /* bytes, */
    size_t summed;     /* of which so many are in the CRC */
    size_t size, done; /* bytes on the wire, and those that the channel has taken */
    uint32_t crc;
    unsigned char head[PSD_WIRE_HEAD];
    unsigned char trailer[PSD_WIRE_CRC];
};

struct psd_writer {
    struct psd_channel *channel; /* borrowed */
    struct psd_seal *seal;       /* borrowed; NULL: the channel is encrypted, and there is no CRC */
    struct psd_wire_terms terms;
    uint64_t sequence; /* frames that have been put under way */
    uint64_t total;    /* bytes written in all */
    bool is_blocked;   /* the channel takes no more just now */

    struct psd_frame open, beat; /* our own */
    struct psd_frames waiting, written;
    size_t first, count; /* of the slots in use, in a ring */
    struct psd_writer_slot slots[PSD_WRITER_SLOTS];
};

/* `channel`, and `seal` if there is one, are borrowed. Nothing is written while the stream's number is
 * PSD_WIRE_ANY; whoever learns it sets it in the terms. */
void psd_writer_init(struct psd_writer *writer, struct psd_channel *channel, struct psd_seal *seal,
                     const struct psd_wire_terms *terms);

/* Puts an open in front of all that waits; before anything has been written. */
void psd_writer_put_open(struct psd_writer *writer, const unsigned char header[PSD_FRAME_HEADER]);

/* Puts a beat, if nothing is there to be written anyway. */
void psd_writer_put_beat(struct psd_writer *writer);

/* Writes all that waits, as far as the channel takes it (is_blocked) and until `budget` bytes are used.
 * PSD_EPEER: the stream is over. */
psd_status psd_writer_write(struct psd_writer *writer, size_t budget);

/* Forgets all frames and says bye, if the last frame that was begun is whole and the channel takes it. */
void psd_writer_say_bye(struct psd_writer *writer);

/* Whether there is nothing to write. */
bool psd_writer_is_idle(const struct psd_writer *writer);

#endif
