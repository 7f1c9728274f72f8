/* wire.c - a head, number by number; wire.h has it byte by byte. */
#include "net/tcp/wire.h"
#include "base/little.h"
#include "base/status.h"

#include <string.h>

void psd_wire_encode(const struct psd_wire_head *head, unsigned char out[PSD_WIRE_SEALED])
{
    psd_little_put(out, PSD_WIRE_VERSION, 1);
    psd_little_put(out + 1, head->kind, 1);
    psd_little_put(out + 2, head->stream, 2);
    psd_little_put(out + 4, head->epoch, 4);
    psd_little_put(out + 8, head->job, 8);
    psd_little_put(out + 16, head->sequence, 8);
    psd_little_put(out + 24, head->length, 8);
    memcpy(out + 32, head->header, PSD_FRAME_HEADER);
}

static psd_status check_first(const unsigned char *bytes)
{
    if (bytes[0] != PSD_WIRE_VERSION)
        return psd_fail(PSD_EPEER,
                        "sends frames of version %u, and we know version %d: let all processes run "
                        "the same version of Poseidon",
                        bytes[0], PSD_WIRE_VERSION);
    if (bytes[1] < PSD_WIRE_DATA || bytes[1] > PSD_WIRE_BYE)
        return psd_fail(PSD_EPEER, "sends a frame of kind %u, which there is not", bytes[1]);
    return PSD_OK;
}

/* What only data has must not be elsewhere. */
static psd_status check_rest(const struct psd_wire_head *head)
{
    static const unsigned char nothing[PSD_FRAME_HEADER];

    if (head->kind != PSD_WIRE_DATA && head->length > 0)
        return psd_fail(PSD_EPEER, "sends a frame of kind %d with a payload, which it cannot have",
                        (int)head->kind);
    if (head->kind == PSD_WIRE_BEAT && memcmp(head->header, nothing, sizeof nothing) != 0)
        return psd_fail(PSD_EPEER, "sends a beat with a header, which it cannot have");
    return PSD_OK;
}

psd_status psd_wire_decode(const unsigned char bytes[PSD_WIRE_SEALED], struct psd_wire_head *head)
{
    PSD_TRY(check_first(bytes));
    struct psd_wire_head read = {
        .kind = (enum psd_wire_kind)bytes[1],
        .stream = (uint16_t)psd_little_get(bytes + 2, 2),
        .epoch = (uint32_t)psd_little_get(bytes + 4, 4),
        .job = psd_little_get(bytes + 8, 8),
        .sequence = psd_little_get(bytes + 16, 8),
        .length = psd_little_get(bytes + 24, 8),
    };
    memcpy(read.header, bytes + 32, PSD_FRAME_HEADER);
    PSD_TRY(check_rest(&read));
    *head = read;
    return PSD_OK;
}
