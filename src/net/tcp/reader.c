/* reader.c - a state for each part of a frame, and one function that fetches bytes for all of them. */
#include "net/tcp/reader.h"
#include "base/little.h"
#include "base/status.h"

#include <inttypes.h>
#include <string.h>

enum state { HEAD, ASKED, PAYLOAD, TRAILER, OVER };

#define LONGEST (UINT64_C(1) << 40) /* bytes of a payload that is not a mistake */

psd_status psd_reader_init(struct psd_reader *reader, struct psd_channel *channel,
                           struct psd_seal *seal, const struct psd_wire_terms *terms)
{
    *reader = (struct psd_reader){.channel = channel, .seal = seal, .terms = *terms};
    return psd_landing_init(&reader->landing, seal != NULL);
}

void psd_reader_fini(struct psd_reader *reader)
{
    psd_landing_fini(&reader->landing);
}

void psd_reader_turn(struct psd_reader *reader, size_t budget)
{
    reader->budget = budget;
    reader->is_dry = false;
}

static size_t near_count(const struct psd_reader *reader)
{
    return reader->near_end - reader->near_at;
}

/* Room for what follows. Behind a large payload only for its CRC and the next head, so that nothing of
 * the next payload must be copied. */
static struct iovec near_room(struct psd_reader *reader)
{
    size_t there = near_count(reader);
    size_t most =
        reader->head.length > PSD_READER_NEAR ? PSD_WIRE_CRC + PSD_WIRE_HEAD : sizeof reader->near;

    memmove(reader->near, reader->near + reader->near_at, there);
    reader->near_at = 0;
    reader->near_end = there;
    return (struct iovec){reader->near + there, most > there ? most - there : 0};
}

/* One read: into the payload's place, if there is one that waits, and behind it. */
static psd_status fetch(struct psd_reader *reader)
{
    struct iovec to[3];
    size_t landing = 0, wanted = 0, count = 0;
    int pieces = reader->state == PAYLOAD ? psd_landing_room(&reader->landing, to) : 0;

    for (int i = 0; i < pieces; i++)
        landing += to[i].iov_len;
    wanted = landing;
    if (reader->state != PAYLOAD || landing == reader->landing.bytes - reader->landing.at) {
        to[pieces] = near_room(reader);
        wanted += to[pieces++].iov_len;
    }
    psd_status status = psd_channel_read(reader->channel, to, pieces, &count);
    if (status != PSD_OK && psd_channel_is_garbled(reader->channel))
        reader->refusal = PSD_READER_GARBLED;
    if (status != PSD_OK)
        return status;
    size_t landed = count < landing ? count : landing;
    if (landed > 0)
        psd_landing_take(&reader->landing, landed);
    reader->near_end += count - landed;
    reader->total += count;
    reader->budget -= count < reader->budget ? count : reader->budget;
    reader->is_dry = count == 0 || (count < wanted && !psd_channel_hides(reader->channel));
    return PSD_OK;
}

static psd_status refuse(struct psd_reader *reader, enum psd_reader_refusal why)
{
    static const char *const sentences[] = {
        [PSD_READER_GARBLED] = "has sent a frame that was altered on its way, or is none",
        [PSD_READER_FOREIGN] = "has sent a frame of another job",
        [PSD_READER_REPLAYED] =
            "has sent a frame out of sequence: repeated, or others before it are lost",
        [PSD_READER_OLD] = "has sent a frame of another epoch of the job's membership",
    };

    reader->state = OVER;
    reader->refusal = why;
    return psd_fail(PSD_EPEER, "%s", sentences[why]);
}

/* Whether a member of ours has written these bytes. */
static bool is_sealed(struct psd_reader *reader, const unsigned char *bytes)
{
    static const unsigned char none[PSD_WIRE_SEAL];

    if (reader->seal)
        return psd_seal_is_right(reader->seal, bytes);
    return memcmp(bytes + PSD_WIRE_SEALED, none, sizeof none) == 0;
}

/* Whether a head of the right job, epoch and place in the sequence makes sense on this stream. */
static bool makes_sense(const struct psd_reader *reader, const struct psd_wire_head *head)
{
    bool is_first = head->sequence == 0;
    bool is_ours =
        head->stream == reader->terms.number || (is_first && reader->terms.number == PSD_WIRE_ANY);

    bool is_its_turn =
        is_first == (head->kind == PSD_WIRE_OPEN) || (is_first && head->kind == PSD_WIRE_BYE);

    return is_ours && head->stream != PSD_WIRE_ANY && is_its_turn && head->length <= LONGEST;
}

static psd_status check_head(struct psd_reader *reader, const unsigned char *bytes)
{
    struct psd_wire_head head;

    if (!is_sealed(reader, bytes) || psd_wire_decode(bytes, &head) != PSD_OK)
        return refuse(reader, PSD_READER_GARBLED);
    if (head.job != reader->terms.job)
        return refuse(reader, PSD_READER_FOREIGN);
    if (head.epoch != reader->terms.epoch)
        return refuse(reader, PSD_READER_OLD);
    if (head.sequence != reader->sequence)
        return refuse(reader, PSD_READER_REPLAYED);
    if (!makes_sense(reader, &head))
        return refuse(reader, PSD_READER_GARBLED);
    reader->head = head;
    reader->terms.number = head.stream;
    reader->sequence++;
    return PSD_OK;
}

static psd_status take_head(struct psd_reader *reader, enum psd_reader_news *news)
{
    PSD_TRY(check_head(reader, reader->near + reader->near_at));
    reader->near_at += PSD_WIRE_HEAD;
    if (reader->head.kind == PSD_WIRE_DATA) {
        *news = PSD_READER_HEAD;
        reader->state = ASKED;
    } else if (reader->head.kind == PSD_WIRE_OPEN) {
        *news = PSD_READER_OPENED;
    } else if (reader->head.kind == PSD_WIRE_BYE) {
        *news = PSD_READER_BYE;
        reader->state = OVER;
    }
    return PSD_OK;
}

psd_status psd_reader_place(struct psd_reader *reader, const struct psd_place *place)
{
    if (reader->state != ASKED)
        return psd_fail(PSD_EINVAL, "a place was given that nobody has asked for");
    PSD_TRY(psd_landing_start(&reader->landing, place, (size_t)reader->head.length));
    reader->state = PAYLOAD;
    return PSD_OK;
}

static void take_payload(struct psd_reader *reader)
{
    reader->near_at +=
        psd_landing_copy(&reader->landing, reader->near + reader->near_at, near_count(reader));
    if (reader->landing.at == reader->landing.bytes)
        reader->state = TRAILER;
}

static size_t trailer_bytes(const struct psd_reader *reader)
{
    return reader->seal && reader->head.length > 0 ? PSD_WIRE_CRC : 0;
}

static psd_status take_trailer(struct psd_reader *reader, enum psd_reader_news *news)
{
    const unsigned char *bytes = reader->near + reader->near_at;
    size_t size = trailer_bytes(reader);

    if (size > 0 && psd_little_get(bytes, size) != reader->landing.crc)
        return refuse(reader, PSD_READER_GARBLED);
    reader->near_at += size;
    reader->state = HEAD;
    *news = PSD_READER_ARRIVED;
    return PSD_OK;
}

/* Whether what has been read is enough for the state to go on. */
static bool has_enough(const struct psd_reader *reader)
{
    switch (reader->state) {
    case HEAD:
        return near_count(reader) >= PSD_WIRE_HEAD;
    case PAYLOAD:
        return near_count(reader) > 0 || reader->landing.at == reader->landing.bytes;
    case TRAILER:
        return near_count(reader) >= trailer_bytes(reader);
    default:
        return true;
    }
}

static psd_status go_on(struct psd_reader *reader, enum psd_reader_news *news)
{
    switch (reader->state) {
    case HEAD:
        return take_head(reader, news);
    case PAYLOAD:
        take_payload(reader);
        return PSD_OK;
    case TRAILER:
        return take_trailer(reader, news);
    case ASKED:
        return psd_fail(PSD_EINVAL, "a stream cannot go on before its payload has a place");
    default:
        return psd_fail(PSD_EPEER, "the stream is over");
    }
}

psd_status psd_reader_step(struct psd_reader *reader, enum psd_reader_news *news)
{
    *news = PSD_READER_NOTHING;
    while (*news == PSD_READER_NOTHING) {
        if (has_enough(reader)) {
            PSD_TRY(go_on(reader, news));
        } else if (reader->is_dry || reader->budget == 0) {
            return PSD_OK;
        } else {
            PSD_TRY(fetch(reader));
        }
    }
    return PSD_OK;
}

void psd_reader_rest(struct psd_reader *reader)
{
    const struct psd_landing *landing = &reader->landing;
    bool has_place = reader->state == PAYLOAD;

    psd_channel_expect(reader->channel,
                       has_place ? landing->bytes - landing->at + trailer_bytes(reader) : 1);
}
