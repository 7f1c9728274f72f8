/* beats_test.c - who lives is heard, who is silent is told. */
#include "net_tcp.h"

static const struct psd_net_config hasty = {.job = 7, .timeout_ns = 300 * PSD_CLOCK_MS};
static const struct psd_net_config patient = {.job = 7, .timeout_ns = PSD_CLOCK_S};

static void sleep_for(uint64_t ns)
{
    psd_clock_sleep_until(psd_clock_now() + ns);
}

/* The loop does nothing else meanwhile, as if the process were stopped. */
static void freeze(void *arg)
{
    const uint64_t *ns = arg;

    sleep_for(*ns);
}

static void an_idle_connection_stays(void)
{
    struct seat seats[2] = {{.config = &hasty}, {.config = &hasty}};

    sit_together(seats);
    sleep_for(700 * PSD_CLOCK_MS);
    wait_for(&seats[0], "connected\n");
    wait_for(&seats[1], "accepted\n");
    stand_up_all(seats, 2);
}

static void who_is_silent_has_left(void)
{
    struct seat seats[2] = {{.config = &hasty}, {.config = &patient}};
    uint64_t long_ns = 900 * PSD_CLOCK_MS;

    sit_together(seats);
    uint64_t before = psd_clock_now();
    CHECK_OK(psd_loop_post(seats[1].loop, freeze, &long_ns));
    wait_for(&seats[0], "connected\nclosed: net://b has been silent for 0.3 s\n");
    CHECK(psd_clock_now() < before + long_ns);
    wait_until(&seats[1], has_closed);
    stand_up_all(seats, 2);
}

static void who_was_asleep_itself_blames_nobody(void)
{
    struct seat seats[2] = {{.config = &hasty}, {.config = &patient}};
    uint64_t long_ns = 600 * PSD_CLOCK_MS;

    sit_together(seats);
    on_loop(seats[0].loop, freeze, &long_ns);
    sleep_for(100 * PSD_CLOCK_MS);
    wait_for(&seats[0], "connected\n");
    stand_up_all(seats, 2);
}

/* It lives, and its frame has no place yet. */
static void what_is_put_off_for_long_is_no_silence(void)
{
    struct seat seats[2] = {{.config = &hasty}, {.config = &hasty, .later = 1}};
    struct psd_frame frames[2] = {frame_of("1", ones, 4), frame_of("2", ones, 4)};

    sit_together(seats);
    send_frames(&seats[0], frames, 1);
    sleep_for(700 * PSD_CLOCK_MS);
    wait_for(&seats[1], "accepted\n");
    wait_for(&seats[0], "connected\nsent 1\n");
    stand_up_all(seats, 2);
}

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    RUN(an_idle_connection_stays)
    RUN(who_is_silent_has_left)
    RUN(who_was_asleep_itself_blames_nobody)
    RUN(what_is_put_off_for_long_is_no_silence)
}
