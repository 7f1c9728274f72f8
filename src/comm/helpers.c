/* helpers.c - a queue of works under a lock, and threads that take from it. */
#include "comm/helpers.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdbool.h>

struct psd_helpers {
    struct psd_loop *loop; /* borrowed, as is the context; outlives us, though perhaps stopped */
    void (*call)(void *context, struct psd_work *work);
    void *context;
    pthread_mutex_t lock;              /* guards all below but the threads */
    pthread_cond_t changed;            /* a work has come, or it is over */
    struct psd_work *first, **end;     /* borrowed; those that nobody has taken */
    struct psd_work *done, **done_end; /* borrowed; those that have run and are not reported */
    bool is_posted;                    /* report_all is to run */
    bool over;
    unsigned count;      /* owner only, as are the threads */
    pthread_t threads[]; /* joined by destroy */
};

/* The next work; NULL: it is over. */
static struct psd_work *take(struct psd_helpers *helpers)
{
    pthread_mutex_lock(&helpers->lock);
    while (!helpers->first && !helpers->over)
        pthread_cond_wait(&helpers->changed, &helpers->lock);
    struct psd_work *work = helpers->over ? NULL : helpers->first;
    if (work) {
        helpers->first = work->next;
        if (!helpers->first)
            helpers->end = &helpers->first;
    }
    pthread_mutex_unlock(&helpers->lock);
    return work;
}

/* On the loop: everything that has run meanwhile. A work may be ordered again by its `done`. */
static void report_all(void *arg)
{
    struct psd_helpers *helpers = arg;
    struct psd_work *next;

    pthread_mutex_lock(&helpers->lock);
    struct psd_work *work = helpers->done;
    helpers->done = NULL;
    helpers->done_end = &helpers->done;
    helpers->is_posted = false;
    pthread_mutex_unlock(&helpers->lock);
    for (; work; work = next) {
        next = work->next;
        helpers->call(helpers->context, work);
    }
}

/* Tells the loop, once for many. A loop without memory for the news has some again sooner or later;
 * one that is stopped wants none. */
static void report(struct psd_helpers *helpers, struct psd_work *work)
{
    work->next = NULL;
    pthread_mutex_lock(&helpers->lock);
    *helpers->done_end = work;
    helpers->done_end = &work->next;
    bool is_posted = helpers->is_posted;
    helpers->is_posted = true;
    pthread_mutex_unlock(&helpers->lock);
    while (!is_posted && psd_loop_post(helpers->loop, report_all, helpers) == PSD_ENOMEM)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
}

static void run(void *arg)
{
    struct psd_helpers *helpers = arg;

    for (struct psd_work *work; (work = take(helpers));) {
        work->run(work);
        report(helpers, work);
    }
}

static psd_status start(struct psd_helpers *helpers, unsigned threads)
{
    while (helpers->count < threads) {
        PSD_TRY(psd_thread_start("psd-helper", run, helpers, &helpers->threads[helpers->count]));
        helpers->count++;
    }
    return PSD_OK;
}

psd_status psd_helpers_create(unsigned threads, struct psd_loop *loop,
                              void (*done)(void *context, struct psd_work *work), void *context,
                              struct psd_helpers **out)
{
    struct psd_helpers *helpers =
        psd_alloc_zero(1, sizeof *helpers + threads * sizeof *helpers->threads);

    if (!helpers)
        return PSD_ENOMEM;
    helpers->loop = loop;
    helpers->call = done;
    helpers->context = context;
    helpers->end = &helpers->first;
    helpers->done_end = &helpers->done;
    pthread_mutex_init(&helpers->lock, NULL);
    pthread_cond_init(&helpers->changed, NULL);
    psd_status status = start(helpers, threads);
    if (status == PSD_OK)
        *out = helpers;
    else
        psd_helpers_destroy(helpers);
    return status;
}

void psd_helpers_destroy(struct psd_helpers *helpers)
{
    if (!helpers)
        return;
    pthread_mutex_lock(&helpers->lock);
    helpers->over = true;
    pthread_cond_broadcast(&helpers->changed);
    pthread_mutex_unlock(&helpers->lock);
    for (unsigned i = 0; i < helpers->count; i++)
        pthread_join(helpers->threads[i], NULL);
    pthread_cond_destroy(&helpers->changed);
    pthread_mutex_destroy(&helpers->lock);
    psd_alloc_free(helpers);
}

void psd_helpers_order(struct psd_helpers *helpers, struct psd_work *work)
{
    work->next = NULL;
    pthread_mutex_lock(&helpers->lock);
    *helpers->end = work;
    helpers->end = &work->next;
    pthread_cond_signal(&helpers->changed);
    pthread_mutex_unlock(&helpers->lock);
}
