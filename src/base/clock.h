/* clock.h - time that only moves forward, in nanoseconds.
 *
 *     uint64_t deadline = psd_clock_now() + 250 * PSD_CLOCK_MS;
 *     psd_clock_sleep_until(deadline);
 *
 * The clock is the machine's monotonic one: it starts anywhere, never jumps when somebody sets the
 * date, and means nothing on another machine. Any thread. */
#ifndef PSD_BASE_CLOCK_H
#define PSD_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define PSD_CLOCK_US    UINT64_C(1000)       /* nanoseconds in a microsecond, */
#define PSD_CLOCK_MS    UINT64_C(1000000)    /* in a millisecond, */
#define PSD_CLOCK_S     UINT64_C(1000000000) /* in a second; */
#define PSD_CLOCK_NEVER UINT64_MAX           /* a moment that does not come */

/* Nanoseconds since a moment in the past that stays the same while the machine runs. */
uint64_t psd_clock_now(void);

/* Returns at `when_ns` or a little later, at once when that has passed; signals do not wake it. */
void psd_clock_sleep_until(uint64_t when_ns);

/* The same moment as the system's calls want it, for CLOCK_MONOTONIC. */
struct timespec psd_clock_timespec(uint64_t when_ns);

#endif
