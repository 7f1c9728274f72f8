/* payload.c - copies and additions between two pairs of spans. */
#include "net/payload.h"
#include "base/status.h"
#include "math/sum.h"

#include <string.h>

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

static void move_part(void *into, const void *from, size_t bytes, bool add)
{
    if (add)
        psd_sum_add(into, from, bytes / sizeof(float));
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
