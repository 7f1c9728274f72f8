/* link_test.c - one frame after the other, and no nanosecond is lost. */
#include "net/sim/link.h"
#include "test.h"

static struct psd_sim_link new_link(double bandwidth)
{
    struct psd_sim_link link = {0};

    psd_sim_link_set(&link, bandwidth);
    return link;
}

static void a_free_link_begins_at_once_and_a_busy_one_when_it_is_free(void)
{
    static const struct {
        uint64_t now;
        size_t bytes;
        uint64_t start, end;
    } cases[] = {
        {5, 10, 5, 15},    /* at once */
        {7, 20, 15, 35},   /* behind it */
        {35, 0, 35, 35},   /* nothing takes no time */
        {35, 1, 35, 36},   /* just in time */
        {100, 2, 100, 102} /* after a pause */
    };
    struct psd_sim_link link = new_link(1e9);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_sim_slot slot = psd_sim_link_take(&link, cases[i].now, cases[i].bytes);
        CHECK(slot.start_ns == cases[i].start && slot.end_ns == cases[i].end);
    }
}

static void a_link_without_limit_takes_no_time(void)
{
    struct psd_sim_link link = new_link(0);
    struct psd_sim_slot slot = psd_sim_link_take(&link, 3, SIZE_MAX);

    CHECK(slot.start_ns == 3 && slot.end_ns == 3);
}

static void many_small_frames_take_as_long_as_one_large(void)
{
    struct psd_sim_link small = new_link(3e9), large = new_link(3e9);

    for (int i = 0; i < 30000; i++)
        psd_sim_link_take(&small, 0, 1);
    CHECK(psd_sim_link_take(&large, 0, 30000).end_ns == 10000);
    CHECK(small.free_ns >= 9999 && small.free_ns <= 10000);
}

static void a_pause_ends_what_is_carried_on(void)
{
    struct psd_sim_link link = new_link(1e9 / 1.5);

    CHECK(psd_sim_link_take(&link, 0, 1).end_ns == 1); /* and half a nanosecond */
    CHECK(psd_sim_link_take(&link, 10, 1).end_ns == 11);
    CHECK(psd_sim_link_take(&link, 0, 1).end_ns == 13);
}

static void another_bandwidth_counts_from_the_next_frame_on(void)
{
    struct psd_sim_link link = new_link(1e9);

    psd_sim_link_take(&link, 0, 10);
    psd_sim_link_set(&link, 1e8);
    CHECK(psd_sim_link_take(&link, 0, 10).start_ns == 10);
    CHECK(link.free_ns == 110);
}

static void a_frame_that_never_ends_keeps_the_clock_whole(void)
{
    struct psd_sim_link link = new_link(1e-300);

    CHECK(psd_sim_link_take(&link, 0, SIZE_MAX).end_ns == UINT64_C(1) << 60);
}

int main(int argc, char **argv)
{
    RUN(a_free_link_begins_at_once_and_a_busy_one_when_it_is_free)
    RUN(a_link_without_limit_takes_no_time)
    RUN(many_small_frames_take_as_long_as_one_large)
    RUN(a_pause_ends_what_is_carried_on)
    RUN(another_bandwidth_counts_from_the_next_frame_on)
    RUN(a_frame_that_never_ends_keeps_the_clock_whole)
}
