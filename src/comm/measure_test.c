/* measure_test.c - latency and bandwidth from moments that the test makes up. */
#include "base/alloc.h"
#include "base/clock.h"
#include "comm/measure.h"
#include "test.h"

/* A measurement with one round trip of 2 ms and no piece yet. */
static struct psd_measure with_a_round(void)
{
    struct psd_measure measure = {.n_rounds = 0};

    psd_measure_round(&measure, 2 * PSD_CLOCK_MS);
    return measure;
}

static void latency_is_half_the_median_round_trip(void)
{
    static const uint64_t rounds[] = {90, 20, 22, 400, 18, 24, 21, 5000, 20};
    struct psd_measure measure = {.n_rounds = 0};

    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
        psd_measure_round(&measure, rounds[i]);
    CHECK(psd_measure_result(&measure, 0).latency_ns == 11);
    psd_measure_round(&measure, 1); /* there are enough */
    CHECK(measure.n_rounds == PSD_MEASURE_ROUNDS);
    CHECK(psd_measure_result(&measure, 0).latency_ns == 11);
}

/* 1 MB each ms after a slow start of 1 MB each 10 ms. */
static void bandwidth_is_that_after_the_warm_up(void)
{
    struct psd_measure measure = with_a_round();
    uint64_t now_ns = 5 * PSD_CLOCK_S;

    for (uint64_t i = 0; i <= 4; i++)
        psd_measure_piece(&measure, now_ns + i * 10 * PSD_CLOCK_MS, 1000000);
    for (uint64_t i = 1; i <= 100; i++)
        psd_measure_piece(&measure, now_ns + (40 + i) * PSD_CLOCK_MS, 1000000);
    CHECK(psd_measure_result(&measure, 0).bandwidth == 1000000000);
}

static void a_flow_of_few_pieces_is_measured_all_the_same(void)
{
    struct psd_measure measure = with_a_round();
    uint64_t now_ns = 5 * PSD_CLOCK_S;

    psd_measure_piece(&measure, now_ns, 4000);
    CHECK(psd_measure_result(&measure, now_ns - PSD_CLOCK_S).bandwidth == 4000);
    CHECK(psd_measure_result(&measure, now_ns).bandwidth == 1); /* a clock that stands still */
    psd_measure_piece(&measure, now_ns + 10 * PSD_CLOCK_MS, 1000);
    CHECK(psd_measure_result(&measure, 0).bandwidth == 100000);
}

static void it_is_done_when_all_pieces_have_come_in_any_order(void)
{
    struct psd_measure measure = with_a_round(), silent = {.n_rounds = 0};

    psd_measure_piece(&measure, 1, 10);
    psd_measure_last(&measure, 2);
    CHECK(!psd_measure_is_done(&measure));
    psd_measure_piece(&measure, 2, 10);
    CHECK(psd_measure_is_done(&measure));
    psd_measure_last(&silent, 0);
    CHECK(!psd_measure_is_done(&silent)); /* no round trip */
}

static void the_slowest_link_and_the_median_latency_count(void)
{
    static const struct psd_measured all[] = {{50, 900}, {10, 700}, {70, 800}, {20, 700}};
    struct psd_measured out = {0, 0};
    unsigned slowest = 9;
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = psd_measure_combine(all, 4, &out, &slowest);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    CHECK(out.latency_ns == 50 && out.bandwidth == 700 && slowest == 1);
}

static void what_is_told_is_read_again(void)
{
    struct psd_measured out = {0, 0}, told = {UINT64_C(1) << 40, 123456789};
    struct psd_pack pack = {.bytes = NULL};

    CHECK_OK(psd_measure_pack(&told, &pack));
    CHECK_OK(psd_measure_read(3, pack.bytes, pack.length, &out));
    CHECK(out.latency_ns == told.latency_ns && out.bandwidth == told.bandwidth);
    CHECK_STATUS(PSD_EPEER, psd_measure_read(3, pack.bytes, pack.length - 1, &out));
    CHECK(strstr(psd_error(), "rank 3"));
    memset(pack.bytes + 8, 0, 8);
    CHECK_STATUS(PSD_EPEER, psd_measure_read(3, pack.bytes, pack.length, &out));
    CHECK_TEXT("rank 3 says that nothing has reached it", psd_error());
    psd_pack_fini(&pack);
}

int main(int argc, char **argv)
{
    RUN(latency_is_half_the_median_round_trip)
    RUN(bandwidth_is_that_after_the_warm_up)
    RUN(a_flow_of_few_pieces_is_measured_all_the_same)
    RUN(it_is_done_when_all_pieces_have_come_in_any_order)
    RUN(the_slowest_link_and_the_median_latency_count)
    RUN(what_is_told_is_read_again)
}
