/* identity.c - the bytes of an identity, and what differs in two of them. */
#include "net/tcp/identity.h"
#include "base/little.h"
#include "net/tcp/wire.h"

#include <string.h>

enum { VERSION_AT = 8, SECRET_AT = 9, JOB_AT = 10, JOB_BYTES = 8 };

void psd_identity_write(uint64_t job, bool in_clear, unsigned char out[PSD_IDENTITY])
{
    memcpy(out, "poseidon", VERSION_AT);
    out[VERSION_AT] = PSD_WIRE_VERSION;
    out[SECRET_AT] = !in_clear;
    psd_little_put(out + JOB_AT, job, JOB_BYTES);
}

enum psd_identity_doubt psd_identity_compare(const unsigned char ours[PSD_IDENTITY],
                                             const unsigned char *theirs, size_t size)
{
    if (size <= VERSION_AT || memcmp(ours, theirs, VERSION_AT) != 0)
        return PSD_IDENTITY_STRANGE;
    if (ours[VERSION_AT] != theirs[VERSION_AT])
        return PSD_IDENTITY_VERSION;
    if (size != PSD_IDENTITY || theirs[SECRET_AT] > 1)
        return PSD_IDENTITY_STRANGE;
    if (memcmp(ours + JOB_AT, theirs + JOB_AT, JOB_BYTES) != 0)
        return PSD_IDENTITY_JOB;
    if (ours[SECRET_AT] != theirs[SECRET_AT])
        return ours[SECRET_AT] ? PSD_IDENTITY_CLEAR : PSD_IDENTITY_SECRET;
    return PSD_IDENTITY_SAME;
}
