/* reason.c - a format for each reason. */
#include "net/reason.h"

#include <stdio.h>

void psd_reason_say(enum psd_reason reason, const char *scheme, const char *address, char *out,
                    size_t size)
{
    psd_reason_say_time(reason, scheme, address, 0, out, size);
}

void psd_reason_say_time(enum psd_reason reason, const char *scheme, const char *address,
                         uint64_t time_ns, char *out, size_t size)
{
    double seconds = (double)time_ns / 1e9;

    switch (reason) {
    case PSD_REASON_CLOSED:
        snprintf(out, size, "%s://%s has closed the connection", scheme, address);
        break;
    case PSD_REASON_NOBODY:
        snprintf(out, size, "nobody listens at %s://%s", scheme, address);
        break;
    case PSD_REASON_CUT:
        snprintf(out, size, "the connection with %s://%s is cut", scheme, address);
        break;
    case PSD_REASON_DEAD:
        snprintf(out, size, "%s://%s is gone", scheme, address);
        break;
    case PSD_REASON_MEMORY:
        snprintf(out, size, "the connection with %s://%s broke: out of memory", scheme, address);
        break;
    case PSD_REASON_KEY:
        snprintf(out, size, "%s://%s has another key", scheme, address);
        break;
    case PSD_REASON_UNREACHABLE:
        snprintf(out, size, "there is no way to %s://%s", scheme, address);
        break;
    case PSD_REASON_LATE:
        snprintf(out, size, "%s://%s has not answered within %.3g s", scheme, address, seconds);
        break;
    case PSD_REASON_SILENT:
        snprintf(out, size, "%s://%s has been silent for %.3g s", scheme, address, seconds);
        break;
    case PSD_REASON_STUCK:
        snprintf(out, size, "%s://%s has acknowledged nothing for %.3g s: is the cable cut?",
                 scheme, address, seconds);
        break;
    }
}
