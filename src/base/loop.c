/* loop.c - a turn of the thread: it sleeps if nothing is posted, swaps the posted batch for an empty
 * one, calls the watches that are ready, runs the batch and fires timers.
 *
 * It sleeps in the poller. Who posts rings the bell only if the thread sleeps, and only the first
 * who comes does, so that posting to a loop that is awake costs no system call. */
#include "base/loop.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/poller.h"
#include "base/status.h"
#include "base/tasks.h"
#include "base/thread.h"

#include <pthread.h>

struct psd_loop {
    pthread_mutex_t lock;  /* guards posted, is_... and the has_run of waiting calls */
    pthread_cond_t called; /* a call has run */
    struct psd_tasks posted;
    bool is_stopped;
    bool is_asleep; /* nothing is posted, and whoever posts rings the poller's bell */

    struct psd_tasks running;  /* loop thread only */
    struct psd_timers timers;  /* loop thread only */
    struct psd_poller *poller; /* owned; loop thread only, but for its bell */

    pthread_t thread; /* owner only */
    bool has_thread;  /* owner only */
};

static _Thread_local const struct psd_loop *current; /* the loop that runs on this thread, if any */

bool psd_loop_is_current(const struct psd_loop *loop)
{
    return current == loop;
}

psd_status psd_loop_create(struct psd_loop **out)
{
    struct psd_loop *loop = psd_alloc_zero(1, sizeof *loop);

    if (!loop)
        return PSD_ENOMEM;
    psd_status status = psd_poller_create(&loop->poller);
    if (status != PSD_OK) {
        psd_alloc_free(loop);
        return status;
    }
    pthread_mutex_init(&loop->lock, NULL);
    pthread_cond_init(&loop->called, NULL);
    psd_timers_init(&loop->timers);
    *out = loop;
    return PSD_OK;
}

void psd_loop_destroy(struct psd_loop *loop)
{
    if (!loop)
        return;
    psd_loop_stop(loop);
    psd_poller_destroy(loop->poller);
    psd_timers_fini(&loop->timers);
    psd_tasks_fini(&loop->running);
    psd_tasks_fini(&loop->posted);
    pthread_cond_destroy(&loop->called);
    pthread_mutex_destroy(&loop->lock);
    psd_alloc_free(loop);
}

/* Returns when something is posted, a timer is due, a watch is ready or the loop is to stop; the lock
 * is held, but not while it sleeps. */
static void sleep_until_work(struct psd_loop *loop)
{
    if (loop->posted.count > 0 || loop->is_stopped)
        return;
    loop->is_asleep = true;
    pthread_mutex_unlock(&loop->lock);
    psd_poller_wait(loop->poller, psd_timers_next(&loop->timers));
    pthread_mutex_lock(&loop->lock);
    loop->is_asleep = false;
}

/* Waits for work and takes what is posted. False: the loop is stopped, and this is the last of it,
 * because a stopped loop accepts no more. */
static bool take_batch(struct psd_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    sleep_until_work(loop);
    struct psd_tasks empty = loop->running;
    loop->running = loop->posted;
    loop->posted = empty;
    bool goes_on = !loop->is_stopped;
    pthread_mutex_unlock(&loop->lock);
    return goes_on;
}

/* Fires what is due. At most as many as are set now, so that a timer that always sets itself to
 * "at once" cannot keep posts out. */
static void fire_timers(struct psd_loop *loop)
{
    uint64_t now = loop->timers.count ? psd_clock_now() : 0;

    for (size_t left = loop->timers.count; left > 0; left--) {
        struct psd_timer *timer = psd_timers_take_due(&loop->timers, now);
        if (!timer)
            break;
        timer->fn(timer->arg);
    }
}

static void run_watches(struct psd_loop *loop)
{
    psd_poller_glance(loop->poller); /* if it has not slept, and not looked for long */
    psd_poller_run(loop->poller);
}

static void run(void *arg)
{
    struct psd_loop *loop = arg;
    bool goes_on = true;

    current = loop;
    while (goes_on) {
        goes_on = take_batch(loop);
        if (goes_on)
            run_watches(loop);
        psd_tasks_run(&loop->running);
        if (goes_on)
            fire_timers(loop);
    }
}

psd_status psd_loop_start(struct psd_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    bool is_stopped = loop->is_stopped;
    pthread_mutex_unlock(&loop->lock);
    if (loop->has_thread || is_stopped)
        return psd_fail(PSD_EINVAL, "a loop starts once");
    PSD_TRY(psd_thread_start("psd-loop", run, loop, &loop->thread));
    loop->has_thread = true;
    return PSD_OK;
}

/* Lets go of the lock, and wakes the thread if it sleeps. */
static void unlock_and_wake(struct psd_loop *loop)
{
    bool was_asleep = loop->is_asleep;

    loop->is_asleep = false; /* one ring is enough */
    pthread_mutex_unlock(&loop->lock);
    if (was_asleep)
        psd_poller_ring(loop->poller);
}

void psd_loop_stop(struct psd_loop *loop)
{
    assert(!psd_loop_is_current(loop));
    pthread_mutex_lock(&loop->lock);
    loop->is_stopped = true;
    unlock_and_wake(loop);
    if (loop->has_thread)
        pthread_join(loop->thread, NULL);
    pthread_mutex_lock(&loop->lock);
    loop->has_thread = false;
    pthread_cond_broadcast(&loop->called); /* nobody runs what was asked of a loop never started */
    pthread_mutex_unlock(&loop->lock);
}

psd_status psd_loop_reserve(struct psd_loop *loop, size_t count)
{
    PSD_ON_LOOP(loop);
    pthread_mutex_lock(&loop->lock);
    psd_status status = psd_tasks_reserve(&loop->posted, count);
    pthread_mutex_unlock(&loop->lock);
    return status == PSD_OK ? psd_tasks_reserve(&loop->running, count)
                            : status; /* they take turns */
}

psd_status psd_loop_post(struct psd_loop *loop, void (*fn)(void *arg), void *arg)
{
    psd_status status = PSD_EINVAL;

    pthread_mutex_lock(&loop->lock);
    bool is_stopped = loop->is_stopped;
    if (!is_stopped)
        status = psd_tasks_append(&loop->posted, (struct psd_task){.fn = fn, .arg = arg});
    if (status == PSD_OK)
        unlock_and_wake(loop);
    else
        pthread_mutex_unlock(&loop->lock);
    return is_stopped ? psd_fail(status, "the loop is stopped and takes no more work") : status;
}

/* A call in progress, on its caller's stack. */
struct call {
    struct psd_loop *loop; /* borrowed */
    struct psd_task task;
    bool has_run; /* guarded by the loop's lock */
};

static void run_call(void *arg)
{
    struct call *call = arg;
    struct psd_loop *loop = call->loop;

    call->task.fn(call->task.arg);
    pthread_mutex_lock(&loop->lock);
    call->has_run = true; /* once the lock is free, the call is gone */
    pthread_cond_broadcast(&loop->called);
    pthread_mutex_unlock(&loop->lock);
}

psd_status psd_loop_call(struct psd_loop *loop, void (*fn)(void *arg), void *arg)
{
    struct call call = {.loop = loop, .task = {.fn = fn, .arg = arg}};

    assert(!psd_loop_is_current(loop)); /* it would wait for itself */
    PSD_TRY(psd_loop_post(loop, run_call, &call));
    pthread_mutex_lock(&loop->lock);
    while (!call.has_run && (loop->has_thread || !loop->is_stopped))
        pthread_cond_wait(&loop->called, &loop->lock);
    pthread_mutex_unlock(&loop->lock);
    return call.has_run ? PSD_OK : psd_fail(PSD_EINVAL, "the loop was stopped before it ran");
}

psd_status psd_loop_at(struct psd_loop *loop, uint64_t when_ns, void (*fn)(void *arg), void *arg,
                       struct psd_timer *timer)
{
    PSD_ON_LOOP(loop);
    return psd_timers_set(&loop->timers, when_ns, fn, arg, timer);
}

void psd_loop_cancel(struct psd_loop *loop, struct psd_timer *timer)
{
    PSD_ON_LOOP(loop);
    psd_timers_cancel(&loop->timers, timer);
}

psd_status psd_loop_watch(struct psd_loop *loop, int fd, unsigned events,
                          void (*fn)(void *arg, unsigned events), void *arg,
                          struct psd_watch *watch)
{
    struct psd_watch wanted = {.fn = fn, .arg = arg, .fd = fd, .events = events};

    PSD_ON_LOOP(loop);
    return psd_poller_watch(loop->poller, &wanted, watch);
}

void psd_loop_unwatch(struct psd_loop *loop, struct psd_watch *watch)
{
    PSD_ON_LOOP(loop);
    psd_poller_unwatch(loop->poller, watch);
}
