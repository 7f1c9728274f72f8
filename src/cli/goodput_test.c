/* goodput_test.c - a plain stream, as fast as it goes. */
#include "base/clock.h"
#include "cli/goodput.h"
#include "test.h"

static void a_stream_over_loopback_has_a_speed_and_a_distance(void)
{
    struct psd_goodput goodput = {0};

    CHECK_OK(psd_goodput_measure(
        &(struct psd_goodput_options){.address = "127.0.0.1", .time_ns = 100 * PSD_CLOCK_MS},
        &goodput));
    CHECK(goodput.bytes_per_s > 0 && goodput.bytes_per_s < 1e13);
    CHECK(goodput.latency > 0 && goodput.latency < 60);
}

static void an_address_that_is_none_is_told(void)
{
    struct psd_goodput goodput = {0};

    CHECK_STATUS(PSD_EINVAL, psd_goodput_measure(
                                 &(struct psd_goodput_options){.address = "nowhere"}, &goodput));
    CHECK(strstr(psd_error(), "nowhere is no IPv4 address"));
}

int main(int argc, char **argv)
{
    RUN(a_stream_over_loopback_has_a_speed_and_a_distance)
    RUN(an_address_that_is_none_is_told)
}
