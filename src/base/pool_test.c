/* pool_test.c - every index runs once, the lowest failure wins, and jobs are not forgotten. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"
#include "base/status.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { COUNT = 1000 };

static struct psd_pool *new_pool(unsigned threads)
{
    struct psd_pool *pool = NULL;

    CHECK_OK(psd_pool_create(threads, &pool));
    return pool;
}

static psd_status count_run(void *arg, size_t index)
{
    int *runs = arg;

    runs[index]++;
    return PSD_OK;
}

static void every_index_runs_exactly_once(void)
{
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct psd_pool *pool = new_pool(threads);
        int runs[COUNT] = {0};
        CHECK_OK(psd_pool_each(pool, 0, count_run, NULL));
        CHECK_OK(psd_pool_each(pool, 1, count_run, runs));
        CHECK_OK(psd_pool_each(pool, COUNT - 1, count_run, runs + 1));
        for (int i = 0; i < COUNT; i++)
            CHECK(runs[i] == 1);
        psd_pool_destroy(pool);
    }
}

static psd_status is_the_caller(void *arg, size_t index)
{
    (void)index;
    CHECK(pthread_equal(*(pthread_t *)arg, pthread_self()));
    return PSD_OK;
}

static void with_one_thread_the_caller_does_everything(void)
{
    struct psd_pool *pool = new_pool(1);
    pthread_t self = pthread_self();

    CHECK_OK(psd_pool_each(pool, COUNT, is_the_caller, &self));
    psd_pool_destroy(pool);
}

/* Waits until all indices are here, which only as many threads can bring about. */
static psd_status meet(void *arg, size_t index)
{
    atomic_int *missing = arg;

    (void)index;
    atomic_fetch_sub(missing, 1);
    while (atomic_load(missing) > 0)
        psd_clock_sleep_until(psd_clock_now() + 100 * PSD_CLOCK_US);
    return PSD_OK;
}

static void indices_run_side_by_side(void)
{
    struct psd_pool *pool = new_pool(3);
    atomic_int missing = 3;

    CHECK_OK(psd_pool_each(pool, 3, meet, &missing));
    psd_pool_destroy(pool);
}

static psd_status fail_from_700(void *arg, size_t index)
{
    ((int *)arg)[index]++;
    if (index < 700)
        return PSD_OK;
    return psd_fail(index % 2 ? PSD_EPEER : PSD_ECONFIG, "index %zu", index);
}

static void the_lowest_failure_is_the_callers_and_all_indices_run(void)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct psd_pool *pool = new_pool(threads);
        int runs[COUNT] = {0};
        psd_fail(PSD_EINVAL, "something older");
        CHECK_STATUS(PSD_ECONFIG, psd_pool_each(pool, COUNT, fail_from_700, runs));
        CHECK_TEXT("index 700", psd_error());
        for (int i = 0; i < COUNT; i++)
            CHECK(runs[i] == 1);
        psd_pool_destroy(pool);
    }
}

static void a_failure_without_memory_keeps_its_status(void)
{
    struct psd_pool *pool = new_pool(1);
    int runs[701] = {0};

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ECONFIG, psd_pool_each(pool, 701, fail_from_700, runs));
    CHECK(psd_alloc_fail_at(-1));
    CHECK_TEXT("index 700 failed, with no memory left to say why", psd_error());
    psd_pool_destroy(pool);
}

struct grid {
    struct psd_pool *pool;
    int runs[30][30];
};

static psd_status run_row(void *arg, size_t index)
{
    struct grid *grid = arg;

    return psd_pool_each(grid->pool, 30, count_run, grid->runs[index]);
}

static void each_can_be_used_inside_each(void)
{
    struct psd_pool *pool = new_pool(3);
    struct grid grid = {.pool = pool};

    CHECK_OK(psd_pool_each(pool, 30, run_row, &grid));
    for (int i = 0; i < 900; i++)
        CHECK(grid.runs[i / 30][i % 30] == 1);
    psd_pool_destroy(pool);
}

static void *use_pool(void *arg)
{
    int runs[COUNT] = {0};

    for (int round = 0; round < 10; round++)
        CHECK_OK(psd_pool_each(arg, COUNT, count_run, runs));
    for (int i = 0; i < COUNT; i++)
        CHECK(runs[i] == 10);
    return NULL;
}

static void several_threads_may_use_one_pool(void)
{
    struct psd_pool *pool = new_pool(3);
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, use_pool, pool) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    psd_pool_destroy(pool);
}

static void count_job(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void destroy_waits_for_every_job(void)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct psd_pool *pool = new_pool(threads);
        atomic_int jobs = 0;
        for (int i = 0; i < 100; i++)
            CHECK_OK(psd_pool_submit(pool, count_job, &jobs));
        psd_pool_destroy(pool);
        CHECK(jobs == 100);
    }
    psd_pool_destroy(NULL);
}

static void wait_for_flag(void *arg)
{
    while (!atomic_load((atomic_bool *)arg))
        psd_clock_sleep_until(psd_clock_now() + 100 * PSD_CLOCK_US);
}

static void each_finishes_while_all_helpers_are_busy(void)
{
    struct psd_pool *pool = new_pool(2);
    atomic_bool flag = false;
    int runs[COUNT] = {0};

    CHECK_OK(psd_pool_submit(pool, wait_for_flag, &flag));
    CHECK_OK(psd_pool_each(pool, COUNT, count_run, runs));
    atomic_store(&flag, true);
    psd_pool_destroy(pool);
}

static void a_pool_without_threads_is_refused(void)
{
    struct psd_pool *pool = NULL;

    CHECK_STATUS(PSD_EINVAL, psd_pool_create(0, &pool));
    CHECK(pool == NULL);
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) { /* starting a thread allocates, so each fails once, too */
        struct psd_pool *pool = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_pool_create(4, &pool);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (pool == NULL));
        psd_pool_destroy(pool);
    }
}

static void a_job_without_memory_is_refused(void)
{
    struct psd_pool *pool = new_pool(1);
    atomic_int jobs = 0;

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_pool_submit(pool, count_job, &jobs));
    CHECK(psd_alloc_fail_at(-1));
    psd_pool_destroy(pool);
    CHECK(jobs == 0);
}

int main(int argc, char **argv)
{
    RUN(every_index_runs_exactly_once)
    RUN(with_one_thread_the_caller_does_everything)
    RUN(indices_run_side_by_side)
    RUN(the_lowest_failure_is_the_callers_and_all_indices_run)
    RUN(a_failure_without_memory_keeps_its_status)
    RUN(each_can_be_used_inside_each)
    RUN(several_threads_may_use_one_pool)
    RUN(destroy_waits_for_every_job)
    RUN(each_finishes_while_all_helpers_are_busy)
    RUN(a_pool_without_threads_is_refused)
    RUN(create_survives_every_failed_allocation)
    RUN(a_job_without_memory_is_refused)
}
