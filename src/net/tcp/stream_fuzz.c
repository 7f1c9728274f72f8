/* stream_fuzz.c - any bytes after the handshake, and frames of ours with anything changed in them: orders of
 * stream_speech.h, to a reader in clear. */
#define TEST_STOP() abort()
#include "fuzz.h"
#include "stream_speech.h"

static struct mouth mouth; /* one handshake for all inputs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!mouth.pair.trusts[0])
        open_mouth(&mouth);
    speech_give(&mouth, data, size);
    return 0;
}
