/* loop.c - the thread swaps the posted batch for an empty one, runs it, fires timers, and sleeps.
 */
#include "base/loop.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#include <pthread.h>

struct task {
    void (*fn)(void *arg);
    void *arg; /* borrowed until fn has run */
};

/* Tasks in the order of posting. The memory stays, so that a busy loop soon allocates no more. */
struct batch {
    struct task *tasks; /* owned */
    size_t count, room;
};

struct psd_loop {
    pthread_mutex_t lock;  /* guards posted, is_stopped and the has_run of waiting calls */
    pthread_cond_t wake;   /* something was posted, or the loop is to stop */
    pthread_cond_t called; /* a call has run */
    struct batch posted;
    bool is_stopped;

    struct batch running;     /* loop thread only */
    struct psd_timers timers; /* loop thread only */

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
    pthread_condattr_t monotonic;

    if (!loop)
        return PSD_ENOMEM;
    pthread_mutex_init(&loop->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC); /* for timers; see sleep_until_work */
    pthread_cond_init(&loop->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
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
    psd_timers_fini(&loop->timers);
    psd_alloc_free(loop->running.tasks);
    psd_alloc_free(loop->posted.tasks);
    pthread_cond_destroy(&loop->called);
    pthread_cond_destroy(&loop->wake);
    pthread_mutex_destroy(&loop->lock);
    psd_alloc_free(loop);
}

/* Returns when something is posted, a timer is due or the loop is to stop; the lock is held. */
static void sleep_until_work(struct psd_loop *loop)
{
    uint64_t next = psd_timers_next(&loop->timers);
    struct timespec until = psd_clock_timespec(next);

    while (loop->posted.count == 0 && !loop->is_stopped && psd_clock_now() < next)
        pthread_cond_timedwait(&loop->wake, &loop->lock, &until);
}

/* Waits for work and takes what is posted. False: the loop is stopped, and this is the last of it,
 * because a stopped loop accepts no more. */
static bool take_batch(struct psd_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    sleep_until_work(loop);
    struct batch empty = loop->running;
    loop->running = loop->posted;
    loop->posted = empty;
    bool goes_on = !loop->is_stopped;
    pthread_mutex_unlock(&loop->lock);
    return goes_on;
}

static void run_batch(struct psd_loop *loop)
{
    for (size_t i = 0; i < loop->running.count; i++)
        loop->running.tasks[i].fn(loop->running.tasks[i].arg);
    loop->running.count = 0;
}

/* Fires what is due. At most as many as are set now, so that a timer that always sets itself to
 * "at once" cannot keep posts out. */
static void fire_timers(struct psd_loop *loop)
{
    uint64_t now = psd_clock_now();

    for (size_t left = loop->timers.count; left > 0; left--) {
        struct psd_timer *timer = psd_timers_take_due(&loop->timers, now);
        if (!timer)
            break;
        timer->fn(timer->arg);
    }
}

static void run(void *arg)
{
    struct psd_loop *loop = arg;
    bool goes_on = true;

    current = loop;
    while (goes_on) {
        goes_on = take_batch(loop);
        run_batch(loop);
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

void psd_loop_stop(struct psd_loop *loop)
{
    assert(!psd_loop_is_current(loop));
    pthread_mutex_lock(&loop->lock);
    loop->is_stopped = true;
    pthread_cond_signal(&loop->wake);
    pthread_mutex_unlock(&loop->lock);
    if (loop->has_thread)
        pthread_join(loop->thread, NULL);
    pthread_mutex_lock(&loop->lock);
    loop->has_thread = false;
    pthread_cond_broadcast(&loop->called); /* nobody runs what was asked of a loop never started */
    pthread_mutex_unlock(&loop->lock);
}

static psd_status make_room(struct batch *batch, size_t room)
{
    if (room <= batch->room)
        return PSD_OK;
    struct task *tasks = psd_alloc_resize(batch->tasks, room, sizeof *tasks);
    if (!tasks)
        return PSD_ENOMEM;
    batch->tasks = tasks;
    batch->room = room;
    return PSD_OK;
}

static psd_status append(struct batch *batch, struct task task)
{
    if (batch->count == batch->room)
        PSD_TRY(make_room(batch, batch->room ? 2 * batch->room : 16));
    batch->tasks[batch->count++] = task;
    return PSD_OK;
}

psd_status psd_loop_reserve(struct psd_loop *loop, size_t count)
{
    PSD_ON_LOOP(loop);
    pthread_mutex_lock(&loop->lock);
    psd_status status = make_room(&loop->posted, count);
    pthread_mutex_unlock(&loop->lock);
    return status == PSD_OK ? make_room(&loop->running, count) : status; /* they take turns */
}

psd_status psd_loop_post(struct psd_loop *loop, void (*fn)(void *arg), void *arg)
{
    psd_status status = PSD_EINVAL;

    pthread_mutex_lock(&loop->lock);
    bool is_stopped = loop->is_stopped;
    if (!is_stopped)
        status = append(&loop->posted, (struct task){.fn = fn, .arg = arg});
    if (status == PSD_OK)
        pthread_cond_signal(&loop->wake);
    pthread_mutex_unlock(&loop->lock);
    return is_stopped ? psd_fail(status, "the loop is stopped and takes no more work") : status;
}

/* A call in progress, on its caller's stack. */
struct call {
    struct psd_loop *loop; /* borrowed */
    struct task task;
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
