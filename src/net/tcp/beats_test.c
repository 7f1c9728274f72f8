/* beats_test.c - who lives is heard, who is silent is told.
 *
 * The one that falls silent is the clock of the others: when it is told of, their time is over as well, had
 * they not been heard. A loop may well be kept from running for seconds, so that time is long. */
#include "net_tcp.h"

#include <stdatomic.h>

static const struct psd_net_config member = {
    .job = 7, .timeout_ns = 5 * PSD_CLOCK_S, .caller_ns = 5 * PSD_CLOCK_S};
static const struct psd_net_config patient = {
    .job = 7, .timeout_ns = 600 * PSD_CLOCK_S, .caller_ns = 5 * PSD_CLOCK_S};

/* The loop does nothing else meanwhile, as if the process were stopped. */
static void freeze(void *arg)
{
    const atomic_bool *thaw = arg;

    while (!atomic_load(thaw))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

static void who_is_silent_has_left_and_who_lives_has_not(void)
{
    struct seat idle[2] = {{.config = &member}, {.config = &member}};
    struct seat busy[2] = {{.config = &member}, {.config = &member, .later = 1}};
    struct seat asleep[2] = {{.config = &member}, {.config = &patient}};
    struct seat silent[2] = {{.config = &member}, {.config = &patient}};
    struct psd_frame frame = frame_of("1", ones, 4);
    atomic_bool thaw = false;

    sit_as(idle, "a", "b");
    sit_as(busy, "c", "d");
    sit_as(asleep, "e", "f");
    sit_as(silent, "g", "h");
    send_frames(&busy[0], &frame, 1); /* which has no place yet */
    CHECK_OK(psd_loop_post(asleep[0].loop, freeze, &thaw));
    CHECK_OK(psd_loop_post(silent[1].loop, freeze, &thaw));
    wait_for(&silent[0], "connected\nclosed: net://h has been silent for 5 s\n");
    atomic_store(&thaw, true);
    wait_until(&silent[1], has_closed);
    psd_clock_sleep_until(psd_clock_now() + 1200 * PSD_CLOCK_MS); /* two beats */

    wait_for(&idle[0], "connected\n");
    wait_for(&idle[1], "accepted\n");
    wait_for(&busy[0], "connected\nsent 1\n");
    wait_for(&busy[1], "accepted\n");
    wait_for(&asleep[0], "connected\n"); /* and blames nobody for its sleep */
    wait_for(&asleep[1], "accepted\n");
    stand_up_all(idle, 2);
    stand_up_all(busy, 2);
    stand_up_all(asleep, 2);
    stand_up_all(silent, 2);
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(who_is_silent_has_left_and_who_lives_has_not)
}
