/* rates_test.c - speeds that some machine could have. */
#include "base/alloc.h"
#include "comm/rates.h"
#include "test.h"

static void speeds_are_those_of_a_machine(void)
{
    double sum = 0, update = 0, rebuild = 0;

    CHECK_OK(psd_rates_sum(&sum));
    CHECK_OK(psd_rates_update(&update));
    CHECK_OK(psd_rates_rebuild(&rebuild));
    CHECK(sum > 1e3 && sum < 1e13);
    CHECK(update > 1e3 && update < 1e13);
    CHECK(rebuild > 1e3 && rebuild < 1e14);
}

static void every_failed_allocation_is_survived(void)
{
    psd_status (*const measures[])(double *) = {psd_rates_sum, psd_rates_update, psd_rates_rebuild};

    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        double speed = -1;
        psd_alloc_fail_at(0);
        CHECK_STATUS(PSD_ENOMEM, measures[i](&speed));
        CHECK(psd_alloc_fail_at(-1) && speed < 0);
    }
}

int main(int argc, char **argv)
{
    RUN(speeds_are_those_of_a_machine)
    RUN(every_failed_allocation_is_survived)
}
