/* hello.c - is this the beginning of a handshake of ours? */
#include "net/tcp/hello.h"
#include "base/status.h"

enum { RECORD = 5, MESSAGE = 9 }; /* bytes of the record's head; and of the message's, too */

psd_status psd_hello_check(const struct psd_hello *hello, size_t *wanted)
{
    const unsigned char *bytes = hello->bytes;

    if (hello->count < MESSAGE) {
        *wanted = MESSAGE - hello->count;
        return PSD_OK;
    }
    size_t record = (size_t)bytes[3] << 8 | bytes[4];
    size_t message = (size_t)bytes[6] << 16 | (size_t)bytes[7] << 8 | bytes[8];
    if (bytes[0] != 22 || bytes[5] != 1)
        return psd_fail(PSD_EPEER, "is no Poseidon: it does not begin with a handshake of TLS");
    if (record + RECORD > PSD_HELLO || message + MESSAGE != record + RECORD)
        return psd_fail(PSD_EPEER, "is no Poseidon: its handshake is too long");
    *wanted = record + RECORD - hello->count;
    return PSD_OK;
}
