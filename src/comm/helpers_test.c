/* helpers_test.c - works run elsewhere, in order, and are reported on the loop. */
#include "base/alloc.h"
#include "base/clock.h"
#include "comm/helpers.h"
#include "test.h"

#include <stdatomic.h>

enum { WORKS = 200 };

/* A loop, helpers, and what has become of the works. */
struct bench {
    struct psd_loop *loop;
    struct psd_helpers *helpers;
    struct psd_work works[WORKS];
    atomic_int began, ran;
    uint64_t pause_ns; /* that each takes at least */
    uint64_t start_ns; /* when those that are not run begin to end */
    atomic_bool hold;  /* works do not end while it is set */
    int done[WORKS];   /* loop thread only, as is the next */
    atomic_int finished;
};

static void run_one(struct psd_work *work)
{
    struct bench *bench = work->owner;

    CHECK(!psd_loop_is_current(bench->loop));
    atomic_fetch_add(&bench->began, 1);
    do {
        psd_clock_sleep_until(psd_clock_now() + bench->pause_ns);
    } while (atomic_load(&bench->hold));
    atomic_fetch_add(&bench->ran, 1);
}

static void done_one(void *context, struct psd_work *work)
{
    struct bench *bench = context;

    CHECK(psd_loop_is_current(bench->loop) && work->owner == bench);
    bench->done[atomic_fetch_add(&bench->finished, 1)] = (int)(work - bench->works);
}

static void order_all(void *arg)
{
    struct bench *bench = arg;

    for (size_t i = 0; i < WORKS; i++) {
        bench->works[i] =
            (struct psd_work){.kind = PSD_WORK_UPDATE, .run = run_one, .owner = bench};
        psd_helpers_order(bench->helpers, &bench->works[i]);
    }
}

static struct bench *new_bench(unsigned threads)
{
    struct bench *bench = calloc(1, sizeof *bench);

    CHECK(bench);
    CHECK_OK(psd_loop_create(&bench->loop));
    CHECK_OK(psd_loop_start(bench->loop));
    CHECK_OK(psd_helpers_create(threads, bench->loop, done_one, bench, &bench->helpers));
    return bench;
}

static void free_bench(struct bench *bench)
{
    psd_loop_stop(bench->loop);
    psd_helpers_destroy(bench->helpers);
    psd_loop_destroy(bench->loop);
    free(bench);
}

static void wait_until(const atomic_int *counter, int count)
{
    while (atomic_load(counter) < count)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS / 10);
}

static void one_helper_does_works_in_the_order_of_ordering(void)
{
    struct bench *bench = new_bench(1);

    CHECK_OK(psd_loop_call(bench->loop, order_all, bench));
    wait_until(&bench->finished, WORKS);
    psd_loop_stop(bench->loop);
    for (int i = 0; i < WORKS; i++)
        CHECK(bench->done[i] == i);
    free_bench(bench);
}

static void several_helpers_work_at_the_same_time_and_on_each_once(void)
{
    struct bench *bench = new_bench(3);
    bool seen[WORKS] = {false};

    atomic_store(&bench->hold, true);
    CHECK_OK(psd_loop_call(bench->loop, order_all, bench));
    wait_until(&bench->began, 3);
    atomic_store(&bench->hold, false);
    wait_until(&bench->finished, WORKS);
    psd_loop_stop(bench->loop);
    for (int i = 0; i < WORKS; i++) {
        CHECK(!seen[bench->done[i]]);
        seen[bench->done[i]] = true;
    }
    free_bench(bench);
}

static void destroy_waits_for_what_has_begun_and_drops_the_rest(void)
{
    struct bench *bench = new_bench(2);

    bench->pause_ns = 600 * PSD_CLOCK_MS; /* a minute for all of them */
    atomic_store(&bench->hold, true);
    CHECK_OK(psd_loop_call(bench->loop, order_all, bench));
    wait_until(&bench->began, 2);
    psd_loop_stop(bench->loop);
    atomic_store(&bench->hold, false);
    psd_helpers_destroy(bench->helpers);
    CHECK(atomic_load(&bench->began) == atomic_load(&bench->ran));
    CHECK(atomic_load(&bench->began) < WORKS && atomic_load(&bench->finished) == 0);
    bench->helpers = NULL;
    free_bench(bench);
}

/* Every third work takes its time, and is not run. */
static uint64_t until(void *context, const struct psd_work *work)
{
    struct bench *bench = context;
    long i = work - bench->works;

    return i % 3 == 0 ? bench->start_ns + (uint64_t)i * PSD_CLOCK_MS / 10 : 0;
}

static void works_with_a_time_of_their_own_are_not_run_and_hold_up_nothing(void)
{
    struct bench *bench = new_bench(1);
    struct psd_arithmetic arithmetic = {until, bench};
    int slept = (WORKS + 2) / 3, last = (WORKS - 1) / 3 * 3;

    bench->start_ns = psd_clock_now() + 20 * PSD_CLOCK_MS;
    CHECK_OK(psd_helpers_pretend(bench->helpers, &arithmetic));
    CHECK_OK(psd_loop_call(bench->loop, order_all, bench));
    wait_until(&bench->finished, WORKS);
    CHECK(psd_clock_now() >= bench->start_ns + (uint64_t)last * PSD_CLOCK_MS / 10);
    CHECK(atomic_load(&bench->ran) == WORKS - slept);
    psd_loop_stop(bench->loop);
    for (int i = 0, next[2] = {0}; i < WORKS; i++) {
        bool runs = bench->done[i] % 3 != 0;
        CHECK(bench->done[i] >= next[runs]); /* in order, of each sort */
        next[runs] = bench->done[i];
    }
    free_bench(bench);
}

static void run_here(struct psd_work *work)
{
    struct bench *bench = work->owner;

    CHECK(psd_loop_is_current(bench->loop));
    atomic_fetch_add(&bench->ran, 1);
}

/* A short sum, a long one, and one that is products, too. */
static void order_sums(void *arg)
{
    struct bench *bench = arg;

    bench->works[0] = (struct psd_work){.bytes = 128 << 10, .run = run_here, .owner = bench};
    bench->works[1] = (struct psd_work){.bytes = 256 << 10, .run = run_one, .owner = bench};
    psd_helpers_order(bench->helpers, &bench->works[0]);
    CHECK(atomic_load(&bench->ran) == 1 && atomic_load(&bench->finished) == 0);
    psd_helpers_order(bench->helpers, &bench->works[1]);
    bench->works[2] = (struct psd_work){.bytes = 8, .flops = 1e6, .run = run_one, .owner = bench};
    psd_helpers_order(bench->helpers, &bench->works[2]);
}

static void a_short_sum_is_run_at_once_and_reported_later(void)
{
    struct bench *bench = new_bench(1);

    CHECK_OK(psd_loop_call(bench->loop, order_sums, bench));
    wait_until(&bench->finished, 3);
    psd_loop_stop(bench->loop);
    CHECK(bench->done[0] == 0 && bench->done[1] == 1 && bench->done[2] == 2);
    free_bench(bench);
}

static void create_survives_every_failed_allocation(void)
{
    struct psd_loop *loop = NULL;
    bool failed = true;

    CHECK_OK(psd_loop_create(&loop));
    for (long n = 0; failed; n++) {
        struct psd_helpers *helpers = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_helpers_create(2, loop, done_one, NULL, &helpers);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (helpers == NULL));
        psd_helpers_destroy(helpers);
    }
    psd_loop_destroy(loop);
}

int main(int argc, char **argv)
{
    RUN(one_helper_does_works_in_the_order_of_ordering)
    RUN(several_helpers_work_at_the_same_time_and_on_each_once)
    RUN(destroy_waits_for_what_has_begun_and_drops_the_rest)
    RUN(works_with_a_time_of_their_own_are_not_run_and_hold_up_nothing)
    RUN(a_short_sum_is_run_at_once_and_reported_later)
    RUN(create_survives_every_failed_allocation)
}
