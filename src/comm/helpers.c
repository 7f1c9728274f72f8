/* helpers.c - a queue of works under a lock, and threads that take from it. */
#include "comm/helpers.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdbool.h>

/* Works in the order of ordering. */
struct line {
    struct psd_work *first, **end; /* borrowed; those that nobody has taken */
    pthread_cond_t changed;        /* a work has come, or it is over */
};

struct psd_helpers {
    struct psd_loop *loop; /* borrowed, as is the context; outlives us, though perhaps stopped */
    void (*call)(void *context, struct psd_work *work);
    void *context;
    const struct psd_arithmetic
        *arithmetic;                   /* borrowed; NULL: all is run; constant since the start */
    pthread_mutex_t lock;              /* guards all below but the threads */
    struct line line, slept;           /* works to run, and those that only take their time */
    struct psd_work *done, **done_end; /* borrowed; those that have run and are not reported */
    bool is_posted;                    /* report_all is to run */
    bool over;
    unsigned count;      /* owner only, as are the threads */
    pthread_t sleeper;   /* joined by destroy where there is an arithmetic */
    pthread_t threads[]; /* joined by destroy */
};

static void init_line(struct line *line)
{
    line->first = NULL;
    line->end = &line->first;
    pthread_cond_init(&line->changed, NULL);
}

/* The next work; NULL: it is over. */
static struct psd_work *take(struct psd_helpers *helpers, struct line *line)
{
    pthread_mutex_lock(&helpers->lock);
    while (!line->first && !helpers->over)
        pthread_cond_wait(&line->changed, &helpers->lock);
    struct psd_work *work = helpers->over ? NULL : line->first;
    if (work) {
        line->first = work->next;
        if (!line->first)
            line->end = &line->first;
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

    for (struct psd_work *work; (work = take(helpers, &helpers->line));) {
        work->run(work);
        report(helpers, work);
    }
}

static void sleep_through(void *arg)
{
    struct psd_helpers *helpers = arg;

    for (struct psd_work *work; (work = take(helpers, &helpers->slept));) {
        psd_clock_sleep_until(work->until_ns);
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
    helpers->done_end = &helpers->done;
    init_line(&helpers->line);
    init_line(&helpers->slept);
    pthread_mutex_init(&helpers->lock, NULL);
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
    pthread_cond_broadcast(&helpers->line.changed);
    pthread_cond_broadcast(&helpers->slept.changed);
    pthread_mutex_unlock(&helpers->lock);
    for (unsigned i = 0; i < helpers->count; i++)
        pthread_join(helpers->threads[i], NULL);
    if (helpers->arithmetic)
        pthread_join(helpers->sleeper, NULL);
    pthread_cond_destroy(&helpers->line.changed);
    pthread_cond_destroy(&helpers->slept.changed);
    pthread_mutex_destroy(&helpers->lock);
    psd_alloc_free(helpers);
}

psd_status psd_helpers_pretend(struct psd_helpers *helpers, const struct psd_arithmetic *arithmetic)
{
    PSD_TRY(psd_thread_start("psd-sleeper", sleep_through, helpers, &helpers->sleeper));
    helpers->arithmetic = arithmetic;
    return PSD_OK;
}

/* The line for the work, which is told when it ends if nobody runs it. */
static struct line *line_of(struct psd_helpers *helpers, struct psd_work *work)
{
    const struct psd_arithmetic *arithmetic = helpers->arithmetic;

    work->until_ns = arithmetic ? arithmetic->until(arithmetic->context, work) : 0;
    return work->until_ns ? &helpers->slept : &helpers->line;
}

void psd_helpers_order(struct psd_helpers *helpers, struct psd_work *work)
{
    struct line *line = line_of(helpers, work);

    work->next = NULL;
    pthread_mutex_lock(&helpers->lock);
    *line->end = work;
    line->end = &work->next;
    pthread_cond_signal(&line->changed);
    pthread_mutex_unlock(&helpers->lock);
}
