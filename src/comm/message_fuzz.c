/* message_fuzz.c - any bytes as a header: what is read has a name and is written back as it was. */
#include "comm/message.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_message message;
    unsigned char again[PSD_MESSAGE_SIZE];

    if (size < PSD_MESSAGE_SIZE || psd_message_decode(data, &message) != PSD_OK)
        return 0;
    if (strcmp(psd_message_name(message.kind), "unknown") == 0)
        abort();
    psd_message_encode(&message, again);
    if (memcmp(again, data, sizeof again) != 0)
        abort();
    return 0;
}
