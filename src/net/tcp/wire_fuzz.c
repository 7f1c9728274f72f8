/* wire_fuzz.c - any bytes as a head: what is read is written back as it was. */
#include "fuzz.h"
#include "net/tcp/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_wire_head head;
    unsigned char again[PSD_WIRE_SEALED];

    if (size < PSD_WIRE_SEALED || psd_wire_decode(data, &head) != PSD_OK)
        return 0;
    if (head.kind != PSD_WIRE_DATA && head.length > 0)
        abort();
    psd_wire_encode(&head, again);
    if (memcmp(again, data, sizeof again) != 0)
        abort();
    return 0;
}
