/* clock.c - the system's monotonic clock. */
#include "base/clock.h"

#include <errno.h>

uint64_t psd_clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock and address */
    return (uint64_t)now.tv_sec * PSD_CLOCK_S + (uint64_t)now.tv_nsec;
}

void psd_clock_sleep_until(uint64_t when_ns)
{
    struct timespec when = psd_clock_timespec(when_ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
        continue;
}

struct timespec psd_clock_timespec(uint64_t when_ns)
{
    return (struct timespec){.tv_sec = (time_t)(when_ns / PSD_CLOCK_S),
                             .tv_nsec = (long)(when_ns % PSD_CLOCK_S)};
}
