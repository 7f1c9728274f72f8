/* reason.c - a format for each reason. */
#include "net/reason.h"

#include <stdio.h>

void psd_reason_say(enum psd_reason reason, const char *scheme, const char *address, char *out,
                    size_t size)
{
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
    }
}
