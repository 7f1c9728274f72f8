/* opening_fuzz.c - any bytes as an open: what is read is written back as it was. */
#include "fuzz.h"
#include "net/tcp/opening.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char again[PSD_FRAME_HEADER];
    struct psd_opening opening;

    if (size < sizeof again || psd_opening_decode(data, &opening) != PSD_OK)
        return 0;
    if (opening.number >= opening.count || opening.count > PSD_OPENING_STREAMS)
        abort();
    psd_opening_encode(&opening, again);
    if (memcmp(again, data, sizeof again) != 0)
        abort();
    return 0;
}
