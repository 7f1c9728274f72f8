/* rates_test.c - speeds that some machine could have. */
#include "base/alloc.h"
#include "comm/rates.h"
#include "test.h"

static const enum psd_rates_effort efforts[] = {PSD_RATES_QUICK, PSD_RATES_THOROUGH};

static void speeds_are_those_of_a_machine(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct psd_comm_rates rates = {0};
        CHECK_OK(psd_rates_measure(efforts[i], &rates));
        CHECK(rates.sum_bytes_per_s > 1e3 && rates.sum_bytes_per_s < 1e13);
        CHECK(rates.update_bytes_per_s > 1e3 && rates.update_bytes_per_s < 1e13);
        CHECK(rates.rebuild_flops > 1e3 && rates.rebuild_flops < 1e14);
        fprintf(stderr, "    %.1f GFLOP/s, %.1f GB/s, %.1f GB/s\n", rates.rebuild_flops / 1e9,
                rates.update_bytes_per_s / 1e9, rates.sum_bytes_per_s / 1e9);
    }
}

static void what_is_known_is_not_measured(void)
{
    struct psd_comm_rates rates = {.rebuild_flops = 1, .sum_bytes_per_s = 2};

    CHECK_OK(psd_rates_measure(PSD_RATES_QUICK, &rates));
    CHECK(rates.rebuild_flops == 1 && rates.sum_bytes_per_s == 2 && rates.update_bytes_per_s > 1e3);
    psd_alloc_fail_at(0);
    CHECK_OK(psd_rates_measure(PSD_RATES_QUICK, &rates));
    CHECK(!psd_alloc_fail_at(-1));
}

static void every_failed_allocation_is_survived(void)
{
    psd_status (*const measures[])(enum psd_rates_effort,
                                   double *) = {psd_rates_sum, psd_rates_update, psd_rates_rebuild};
    bool failed = true;

    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        double speed = -1;
        psd_alloc_fail_at(0);
        CHECK_STATUS(PSD_ENOMEM, measures[i](PSD_RATES_QUICK, &speed));
        CHECK(psd_alloc_fail_at(-1) && speed < 0);
    }
    for (long n = 0; failed; n++) {
        struct psd_comm_rates rates = {0};
        psd_alloc_fail_at(n);
        psd_status status = psd_rates_measure(PSD_RATES_QUICK, &rates);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
}

int main(int argc, char **argv)
{
    RUN(speeds_are_those_of_a_machine)
    RUN(what_is_known_is_not_measured)
    RUN(every_failed_allocation_is_survived)
}
