/* pacer_test.c - layers and works on a line. */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/pacer.h"
#include "test.h"

#include <pthread.h>

/* One parameter of 1000 x 1000 and a batch of 10: alone 4 MB and 20 MFLOP an iteration. The device
 * rebuilds at 1 GFLOP/s and moves 1 GB/s. */
static struct psd_workload *new_workload(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("test", 10, &workload));
    CHECK_OK(psd_workload_add_layer(workload, "fc", 1));
    CHECK_OK(psd_workload_add_param(workload, "fc[0]", 1000, 1000));
    workload->rebuild_flops = 1e9;
    workload->update_bytes_per_s = 1e9;
    return workload;
}

static void the_line_is_as_long_as_its_layers_however_late_we_are(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_pacer *pacer = NULL;

    CHECK_OK(psd_pacer_create(workload, &pacer));
    uint64_t before = psd_clock_now();
    psd_pacer_stall(pacer);
    uint64_t start = psd_pacer_line(pacer);
    CHECK(start >= before && start <= psd_clock_now());
    for (int i = 0; i < 4; i++) {
        psd_pacer_layer(pacer, 0.002);
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS); /* less than the next layer takes */
    }
    CHECK(psd_pacer_line(pacer) == start + 8 * PSD_CLOCK_MS);
    CHECK(psd_clock_now() >= start + 8 * PSD_CLOCK_MS);
    uint64_t stalled = psd_clock_now();
    psd_pacer_stall(pacer);
    CHECK(psd_pacer_line(pacer) >= stalled);
    psd_pacer_destroy(pacer);
    psd_workload_destroy(workload);
}

static void only_what_one_machine_alone_does_not_do_takes_time(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_work update = {.kind = PSD_WORK_UPDATE, .bytes = 3e6},
                    rebuild = {.kind = PSD_WORK_REBUILD, .bytes = 1e6, .flops = 30e6};
    struct psd_pacer *pacer = NULL;

    CHECK_OK(psd_pacer_create(workload, &pacer));
    psd_pacer_allow(pacer, 0);
    CHECK(psd_pacer_until(pacer, &update) <= psd_clock_now()); /* 3 of 4 MB */
    uint64_t before = psd_clock_now();
    CHECK(psd_pacer_until(pacer, &rebuild) >= before + 10 * PSD_CLOCK_MS); /* 30 - 20 MFLOP */
    CHECK_NEAR(psd_pacer_worked(pacer), 0.01, 1e-6);
    uint64_t busy = psd_pacer_until(pacer, &rebuild);
    CHECK(busy >= before + 45 * PSD_CLOCK_MS); /* 30 ms, 5 MB more */
    CHECK_NEAR(psd_pacer_worked(pacer), 0.045, 1e-6);
    psd_pacer_allow(pacer, 0);
    uint64_t end = psd_pacer_until(pacer, &update);
    CHECK(end == busy || (end > busy && end <= psd_clock_now()));
    CHECK_NEAR(psd_pacer_worked(pacer), 0.045, 1e-6);
    psd_pacer_destroy(pacer);
    psd_workload_destroy(workload);
}

/* It is ordered when the layer before it is over, and the next one has not begun. */
static void a_work_that_takes_no_time_holds_up_no_layer(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_work update = {.kind = PSD_WORK_UPDATE, .bytes = 4e6};
    struct psd_pacer *pacer = NULL;

    CHECK_OK(psd_pacer_create(workload, &pacer));
    psd_pacer_stall(pacer);
    uint64_t start = psd_pacer_line(pacer);
    psd_pacer_layer(pacer, 0.001);
    psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    psd_pacer_allow(pacer, 0);
    CHECK(psd_pacer_until(pacer, &update) > psd_pacer_line(pacer));
    psd_pacer_layer(pacer, 0.002);
    CHECK(psd_pacer_line(pacer) == start + 3 * PSD_CLOCK_MS);
    psd_pacer_destroy(pacer);
    psd_workload_destroy(workload);
}

static void sums_and_copies_are_for_others(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_work sum = {.kind = PSD_WORK_SUM, .bytes = 1e9},
                    copy = {.kind = PSD_WORK_COPY, .bytes = 1e9};
    struct psd_pacer *pacer = NULL;

    CHECK_OK(psd_pacer_create(workload, &pacer));
    CHECK(psd_pacer_until(pacer, &sum) == 0 && psd_pacer_until(pacer, &copy) == 0);
    psd_pacer_destroy(pacer);
    psd_workload_destroy(workload);
}

/* Two works of 10 ms each, a little after the layer has begun. */
static void *order_works(void *arg)
{
    struct psd_work work = {.kind = PSD_WORK_REBUILD, .flops = 10e6};

    psd_clock_sleep_until(psd_clock_now() + 10 * PSD_CLOCK_MS);
    psd_pacer_until(arg, &work);
    psd_pacer_until(arg, &work);
    return NULL;
}

/* False when the works came too early or too late for the layer. */
static bool push_back(struct psd_pacer *pacer, double seconds)
{
    pthread_t thread;

    psd_pacer_stall(pacer);
    uint64_t end = psd_pacer_line(pacer) + (uint64_t)(seconds * 1e9) + 20 * PSD_CLOCK_MS;
    CHECK(pthread_create(&thread, NULL, order_works, pacer) == 0);
    psd_pacer_layer(pacer, seconds);
    pthread_join(thread, NULL);
    return psd_pacer_line(pacer) == end;
}

/* On a busy machine the layer has to be a longer one. */
static void works_push_a_layer_back_and_come_before_the_next(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_work work = {.kind = PSD_WORK_REBUILD, .flops = 10e6};
    struct psd_pacer *pacer = NULL;

    CHECK_OK(psd_pacer_create(workload, &pacer));
    for (double seconds = 0.25; !push_back(pacer, seconds); seconds *= 2) {
        CHECK(seconds < 60);
        psd_pacer_destroy(pacer);
        CHECK_OK(psd_pacer_create(workload, &pacer));
    }
    uint64_t end = psd_pacer_until(pacer, &work);
    psd_pacer_layer(pacer, 0.001);
    CHECK(psd_pacer_line(pacer) == end + PSD_CLOCK_MS);
    psd_pacer_destroy(pacer);
    psd_workload_destroy(workload);
}

static void create_survives_every_failed_allocation(void)
{
    struct psd_workload *workload = new_workload();
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_pacer *pacer = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_pacer_create(workload, &pacer);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (pacer == NULL));
        psd_pacer_destroy(pacer);
    }
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(the_line_is_as_long_as_its_layers_however_late_we_are)
    RUN(only_what_one_machine_alone_does_not_do_takes_time)
    RUN(a_work_that_takes_no_time_holds_up_no_layer)
    RUN(sums_and_copies_are_for_others)
    RUN(works_push_a_layer_back_and_come_before_the_next)
    RUN(create_survives_every_failed_allocation)
}
