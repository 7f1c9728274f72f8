/* loop.c - a turn of the thread: it sleeps if there is nothing to do, takes the notes that were put into
 * its box, calls the watches that are ready, runs the notes and fires timers.
 *
 *     post ---> [ posted ] first one: put ---.
 *     put -----------------------------------+--> [ box ] ---> notes; one of them runs what is posted
 *
 * It sleeps in the poller. Who comes rings the bell only if the thread sleeps, and only the first
 * who comes does, so that posting to a loop that is awake costs no system call. The thread says that it
 * sleeps before it looks into the box a last time, and who puts looks at that afterwards: one of them
 * sees the other. */
#include "base/loop.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/poller.h"
#include "base/status.h"
#include "base/tasks.h"
#include "base/thread.h"

#include <pthread.h>

struct psd_loop {
    struct psd_box box;       /* of notes; shut when the loop has stopped; any thread */
    _Atomic(bool) is_asleep;  /* whoever has put something rings the poller's bell */
    _Atomic(bool) is_stopped; /* set with the lock held */

    pthread_mutex_t lock;    /* guards posted and the has_run of waiting calls */
    pthread_cond_t called;   /* a call has run */
    struct psd_tasks posted; /* if there are any, `batch` is in the box */

    struct psd_note batch;     /* runs what is posted */
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

static void run_batch(void *arg)
{
    struct psd_loop *loop = arg;

    pthread_mutex_lock(&loop->lock);
    struct psd_tasks empty = loop->running;
    loop->running = loop->posted;
    loop->posted = empty;
    pthread_mutex_unlock(&loop->lock);
    psd_tasks_run(&loop->running);
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
    loop->batch = (struct psd_note){.fn = run_batch, .arg = loop};
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

static bool has_nothing_to_do(const struct psd_loop *loop)
{
    return psd_box_is_empty(&loop->box) && !atomic_load(&loop->is_stopped);
}

/* Returns when something is put, a timer is due, a watch is ready or the loop is to stop. */
static void sleep_until_work(struct psd_loop *loop)
{
    if (!has_nothing_to_do(loop))
        return;
    atomic_store(&loop->is_asleep, true);
    if (has_nothing_to_do(loop))
        psd_poller_wait(loop->poller, psd_timers_next(&loop->timers));
    atomic_store(&loop->is_asleep, false);
}

static void run_notes(struct psd_boxed *boxed)
{
    while (boxed) {
        const struct psd_note *note = (struct psd_note *)boxed;
        boxed = boxed->next; /* it may be put again when its fn has begun */
        note->fn(note->arg);
    }
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

/* A stopped loop accepts no more, so its last turn runs all that there is. */
static void run(void *arg)
{
    struct psd_loop *loop = arg;
    bool goes_on = true;

    current = loop;
    while (goes_on) {
        sleep_until_work(loop);
        goes_on = !atomic_load(&loop->is_stopped);
        struct psd_boxed *notes = goes_on ? psd_box_take(&loop->box) : psd_box_shut(&loop->box);
        if (goes_on)
            run_watches(loop);
        run_notes(notes);
        if (goes_on)
            fire_timers(loop);
    }
}

psd_status psd_loop_start(struct psd_loop *loop)
{
    if (loop->has_thread || atomic_load(&loop->is_stopped))
        return psd_fail(PSD_EINVAL, "a loop starts once");
    PSD_TRY(psd_thread_start("psd-loop", run, loop, &loop->thread));
    loop->has_thread = true;
    return PSD_OK;
}

/* Wakes the thread if it sleeps; one ring is enough. */
static void wake(struct psd_loop *loop)
{
    if (atomic_load(&loop->is_asleep) && atomic_exchange(&loop->is_asleep, false))
        psd_poller_ring(loop->poller);
}

void psd_loop_stop(struct psd_loop *loop)
{
    assert(!psd_loop_is_current(loop));
    pthread_mutex_lock(&loop->lock);
    atomic_store(&loop->is_stopped, true);
    pthread_mutex_unlock(&loop->lock);
    wake(loop);
    if (loop->has_thread)
        pthread_join(loop->thread, NULL);
    psd_box_shut(&loop->box); /* if nobody has, because it was never started */
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

static psd_status refuse(void)
{
    return psd_fail(PSD_EINVAL, "the loop is stopped and takes no more work");
}

psd_status psd_loop_post(struct psd_loop *loop, void (*fn)(void *arg), void *arg)
{
    psd_status status = PSD_OK;

    pthread_mutex_lock(&loop->lock);
    bool is_stopped = atomic_load(&loop->is_stopped);
    if (!is_stopped)
        status = psd_tasks_append(&loop->posted, (struct psd_task){.fn = fn, .arg = arg});
    if (!is_stopped && status == PSD_OK && loop->posted.count == 1)
        psd_box_put(&loop->box, &loop->batch.boxed);
    pthread_mutex_unlock(&loop->lock);
    if (is_stopped)
        return refuse();
    wake(loop);
    return status;
}

psd_status psd_loop_put(struct psd_loop *loop, struct psd_note *note)
{
    if (psd_box_put(&loop->box, &note->boxed) == PSD_BOX_SHUT)
        return refuse();
    wake(loop);
    return PSD_OK;
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
    while (!call.has_run && (loop->has_thread || !atomic_load(&loop->is_stopped)))
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
