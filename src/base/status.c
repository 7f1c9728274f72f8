/* status.c - the sentence of the latest failure, one per thread. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char sentence[16384];

psd_status psd_fail(psd_status status, const char *format, ...)
{
    static _Thread_local char draft[sizeof sentence]; /* the arguments may point into sentence */
    static const char cut[] = "...";
    va_list args;

    va_start(args, format);
    int length = vsnprintf(draft, sizeof draft, format, args);
    va_end(args);
    if (length < 0)
        snprintf(draft, sizeof draft, "a failure that cannot be put into words");
    else if ((size_t)length >= sizeof draft)
        memcpy(draft + sizeof draft - sizeof cut, cut, sizeof cut);
    memcpy(sentence, draft, sizeof sentence);
    return status;
}

const char *psd_error(void)
{
    return sentence;
}

const char *psd_status_name(psd_status status)
{
    switch (status) {
    case PSD_OK:
        return "PSD_OK";
    case PSD_EINVAL:
        return "PSD_EINVAL";
    case PSD_ENOMEM:
        return "PSD_ENOMEM";
    case PSD_ECONFIG:
        return "PSD_ECONFIG";
    case PSD_EPEER:
        return "PSD_EPEER";
    case PSD_ETIMEOUT:
        return "PSD_ETIMEOUT";
    case PSD_EDEVICE:
        return "PSD_EDEVICE";
    case PSD_ENOSUP:
        return "PSD_ENOSUP";
    }
    return "an unknown status";
}

const char *psd_version(void)
{
    return PSD_VERSION;
}
