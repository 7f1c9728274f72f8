/* opening.c - an open, number by number. */
#include "net/tcp/opening.h"
#include "base/status.h"

#include <string.h>

enum { NUMBER = 16, COUNT = 18, PORT = 20, REST = 22 }; /* where they stand */

static void put(unsigned char *out, uint16_t number)
{
    out[0] = (unsigned char)number;
    out[1] = (unsigned char)(number >> 8);
}

static uint16_t get(const unsigned char *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

void psd_opening_encode(const struct psd_opening *opening, unsigned char out[PSD_FRAME_HEADER])
{
    memset(out, 0, PSD_FRAME_HEADER);
    memcpy(out, opening->id, PSD_OPENING_ID);
    put(out + NUMBER, opening->number);
    put(out + COUNT, opening->count);
    put(out + PORT, opening->port);
}

psd_status psd_opening_decode(const unsigned char header[PSD_FRAME_HEADER], struct psd_opening *out)
{
    static const unsigned char zero[PSD_FRAME_HEADER - REST];
    struct psd_opening opening = {
        .number = get(header + NUMBER), .count = get(header + COUNT), .port = get(header + PORT)};

    if (opening.count == 0 || opening.count > PSD_OPENING_STREAMS ||
        opening.number >= opening.count || memcmp(header + REST, zero, sizeof zero) != 0)
        return psd_fail(PSD_EPEER, "a stream is opened as number %u of %u, which cannot be",
                        opening.number, opening.count);
    memcpy(opening.id, header, PSD_OPENING_ID);
    *out = opening;
    return PSD_OK;
}
