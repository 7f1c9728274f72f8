/* opening.c - an open, number by number. */
#include "net/tcp/opening.h"
#include "base/little.h"
#include "base/status.h"

#include <string.h>

enum { NUMBER = 16, COUNT = 18, PORT = 20, REST = 22 }; /* where they stand */

void psd_opening_encode(const struct psd_opening *opening, unsigned char out[PSD_FRAME_HEADER])
{
    memset(out, 0, PSD_FRAME_HEADER);
    memcpy(out, opening->id, PSD_OPENING_ID);
    psd_little_put(out + NUMBER, opening->number, 2);
    psd_little_put(out + COUNT, opening->count, 2);
    psd_little_put(out + PORT, opening->port, 2);
}

psd_status psd_opening_decode(const unsigned char header[PSD_FRAME_HEADER], struct psd_opening *out)
{
    static const unsigned char zero[PSD_FRAME_HEADER - REST];
    struct psd_opening opening = {.number = (uint16_t)psd_little_get(header + NUMBER, 2),
                                  .count = (uint16_t)psd_little_get(header + COUNT, 2),
                                  .port = (uint16_t)psd_little_get(header + PORT, 2)};

    if (opening.count == 0 || opening.count > PSD_OPENING_STREAMS ||
        opening.number >= opening.count || memcmp(header + REST, zero, sizeof zero) != 0)
        return psd_fail(PSD_EPEER, "opens a stream as number %u of %u, which cannot be",
                        opening.number, opening.count);
    memcpy(opening.id, header, PSD_OPENING_ID);
    *out = opening;
    return PSD_OK;
}
