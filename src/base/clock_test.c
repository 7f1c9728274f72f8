/* clock_test.c - time moves forward, and sleep ends when it should. */
#include "base/clock.h"
#include "test.h"

#include <signal.h>
#include <sys/time.h>

static void time_never_moves_backwards(void)
{
    uint64_t before = psd_clock_now();

    for (int i = 0; i < 10000; i++) {
        uint64_t now = psd_clock_now();
        CHECK(now >= before);
        before = now;
    }
}

static void sleep_lasts_until_the_moment_named(void)
{
    uint64_t when = psd_clock_now() + 5 * PSD_CLOCK_MS;

    psd_clock_sleep_until(when);
    CHECK(psd_clock_now() >= when);
}

static void a_moment_that_has_passed_is_not_waited_for(void)
{
    uint64_t before = psd_clock_now();

    psd_clock_sleep_until(0);
    psd_clock_sleep_until(before);
    CHECK(psd_clock_now() - before < 600 * PSD_CLOCK_S);
}

static void ignore_alarm(int number)
{
    (void)number;
}

static void signals_do_not_wake_a_sleeper(void)
{
    struct sigaction action = {.sa_handler = ignore_alarm};
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    uint64_t when = psd_clock_now() + 20 * PSD_CLOCK_MS;

    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    psd_clock_sleep_until(when);
    CHECK(psd_clock_now() >= when);
}

static void a_timespec_is_the_same_moment(void)
{
    struct timespec time = psd_clock_timespec(3 * PSD_CLOCK_S + 7 * PSD_CLOCK_MS + 5);

    CHECK(time.tv_sec == 3);
    CHECK(time.tv_nsec == 7000005);
}

int main(int argc, char **argv)
{
    RUN(time_never_moves_backwards)
    RUN(sleep_lasts_until_the_moment_named)
    RUN(a_moment_that_has_passed_is_not_waited_for)
    RUN(signals_do_not_wake_a_sleeper)
    RUN(a_timespec_is_the_same_moment)
}
