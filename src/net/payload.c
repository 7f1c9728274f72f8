/* payload.c - copies and additions between two pairs of spans. */
#include "net/payload.h"
#include "base/status.h"

#include <string.h>

enum { QUAD = 4 }; /* floats that are added at once */

typedef float quad __attribute__((vector_size(QUAD * sizeof(float))));

/* into[i] += from[i]: one rounding each, so the bits are those of any other way to add. The vectors
 * are loaded and stored by memcpy, which takes any address. */
static void add_floats(unsigned char *into, const unsigned char *from, size_t bytes)
{
    size_t at = 0;

    for (; bytes - at >= sizeof(quad); at += sizeof(quad)) {
        quad a, b;
        memcpy(&a, into + at, sizeof a);
        memcpy(&b, from + at, sizeof b);
        a += b;
        memcpy(into + at, &a, sizeof a);
    }
    for (; at < bytes; at += sizeof(float)) {
        float a, b;
        memcpy(&a, into + at, sizeof a);
        memcpy(&b, from + at, sizeof b);
        a += b;
        memcpy(into + at, &a, sizeof a);
    }
}

size_t psd_payload_bytes(const struct psd_frame *frame)
{
    return frame->payload[0].bytes + frame->payload[1].bytes;
}

static psd_status check(const struct psd_frame *frame, const struct psd_place *place)
{
    size_t bytes = psd_payload_bytes(frame), room = place->spans[0].bytes + place->spans[1].bytes;

    if (bytes != room)
        return psd_fail(PSD_EINVAL, "a payload of %zu bytes was given a place of %zu bytes", bytes,
                        room);
    if (place->add && (frame->payload[0].bytes % sizeof(float) || bytes % sizeof(float) ||
                       place->spans[0].bytes % sizeof(float)))
        return psd_fail(PSD_EINVAL,
                        "a payload of %zu and %zu bytes cannot be added to a place of %zu and %zu "
                        "bytes: a border cuts a float",
                        frame->payload[0].bytes, frame->payload[1].bytes, place->spans[0].bytes,
                        place->spans[1].bytes);
    return PSD_OK;
}

static void move_part(unsigned char *into, const unsigned char *from, size_t bytes, bool add)
{
    if (add)
        add_floats(into, from, bytes);
    else
        memcpy(into, from, bytes);
}

psd_status psd_payload_move(const struct psd_frame *frame, const struct psd_place *place)
{
    size_t f = 0, p = 0, from_done = 0, into_done = 0;

    PSD_TRY(check(frame, place));
    while (f < 2 && p < 2) {
        const unsigned char *from = frame->payload[f].data;
        unsigned char *into = place->spans[p].data;
        size_t from_left = frame->payload[f].bytes - from_done;
        size_t into_left = place->spans[p].bytes - into_done;
        size_t part = from_left < into_left ? from_left : into_left;

        if (from && into && part)
            move_part(into + into_done, from + from_done, part, place->add);
        from_done = from_left > part ? from_done + part : 0;
        into_done = into_left > part ? into_done + part : 0;
        f += from_left == part;
        p += into_left == part;
    }
    return PSD_OK;
}
