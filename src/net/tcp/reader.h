/* reader.h - the bytes of one stream become frames.
 *
 *     .---> head --- data ---> [ place? ] ---> payload ---> CRC --> [ arrived ] ---.
 *     |       |                                                                    |
 *     |       +----- open ---> [ opened ] -----------------------------------------+
 *     |       +----- beat ---------------------------------------------------------+
 *     |       '----- bye ----> [ bye ]                                             |
 *     '----------------------------------------------------------------------------'
 *
 * What stands in brackets is told to whoever turns it. A head is checked whole before anything in it is
 * used. Payloads are read straight into their place (landing.h), and the same system call takes the CRC
 * and the head that follow. Behind a small frame it takes some more, so that several small frames cost
 * one call: then the first bytes of the next payload, a few kilobytes at most, are copied. Belongs to
 * the stream's lane. */
#ifndef PSD_NET_TCP_READER_H
#define PSD_NET_TCP_READER_H

#include "net/tcp/channel.h"
#include "net/tcp/landing.h"
#include "net/tcp/seal.h"
#include "net/tcp/wire.h"

enum { PSD_READER_NEAR = 4096 }; /* bytes that are read ahead, at most */

enum psd_reader_news {
    PSD_READER_NOTHING, /* wait for the socket, or give it another turn: see is_dry */
    PSD_READER_OPENED,  /* `head` is the peer's open */
    PSD_READER_HEAD,    /* `head` is that of data: its place is wanted */
    PSD_READER_ARRIVED, /* the data of `head` are in their place */
    PSD_READER_BYE      /* the peer has closed on purpose */
};

/* Why a frame was refused. */
enum psd_reader_refusal {
    PSD_READER_FINE,
    PSD_READER_GARBLED,
    PSD_READER_FOREIGN,
    PSD_READER_REPLAYED,
    PSD_READER_OLD
};

struct psd_reader {
    struct psd_channel *channel; /* borrowed */
    struct psd_seal *seal;       /* borrowed; NULL: the channel is encrypted, and there is no CRC */
    struct psd_wire_terms terms;
    uint64_t sequence; /* frames that have begun */
    int state;
    struct psd_wire_head
        head; /* the latest; borrowed by whoever hears the news until the next step */
    struct psd_landing landing;
    enum psd_reader_refusal refusal; /* why a step has failed, if it was for a frame */

    size_t budget;  /* bytes that may still be read in this turn */
    bool is_dry;    /* the socket had no more */
    uint64_t total; /* bytes read in all */

    size_t near_at, near_end; /* what was read ahead and is not yet used, in `near` */
    unsigned char near[PSD_READER_NEAR];
};

/* `channel`, and `seal` if there is one, are borrowed until fini. */
psd_status psd_reader_init(struct psd_reader *reader, struct psd_channel *channel,
                           struct psd_seal *seal, const struct psd_wire_terms *terms);
void psd_reader_fini(struct psd_reader *reader);

/* Lets the following steps read that many bytes, more or less. */
void psd_reader_turn(struct psd_reader *reader, size_t budget);

/* Reads until there is news, nothing more to read (is_dry), or the budget is used. PSD_EPEER: the
 * stream is over, for the reason in the sentence; if a frame was refused, `refusal` says why. */
psd_status psd_reader_step(struct psd_reader *reader, enum psd_reader_news *news);

/* The next step comes when the socket is ready: that may be when all is there that is missing to the next
 * news. Not while a place is wanted. */
void psd_reader_rest(struct psd_reader *reader);

/* The answer to PSD_READER_HEAD; the memory is borrowed until PSD_READER_ARRIVED. PSD_EINVAL: it is no
 * place for that payload. */
psd_status psd_reader_place(struct psd_reader *reader, const struct psd_place *place);

#endif
