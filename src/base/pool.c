/* pool.c - helpers wait for batches of indices, which come first, and for single jobs. */
#include "base/pool.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/status.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One psd_pool_each in progress, on its caller's stack. */
struct batch {
    struct psd_list link; /* in the pool's batches while there are indices to hand out */
    psd_status (*fn)(void *arg, size_t index);
    void *arg;         /* borrowed */
    size_t count;      /* indices in all */
    size_t next;       /* the first that is not handed out */
    size_t unfinished; /* those that have not returned */
    size_t failed;     /* the lowest that has failed; count: none */
    psd_status status; /* of that one */
    char *sentence;    /* of that one; owned; NULL: there was no memory for it */
};

struct job {
    struct psd_list link; /* in the pool's jobs */
    void (*fn)(void *arg);
    void *arg; /* borrowed until fn returns */
};

struct psd_pool {
    pthread_mutex_t lock;    /* guards all but helpers and helper_count, and every batch in use */
    pthread_cond_t work;     /* a batch or a job came, or the pool closes */
    pthread_cond_t finished; /* a batch has no unfinished index */
    struct psd_list batches; /* borrowed from their callers */
    struct psd_list jobs;    /* owned */
    bool is_closing;
    bool shares_batches; /* set once: whether helpers take indices */
    atomic_uint changes; /* counts what a thread may wait for; written with the lock held */

    size_t helper_count; /* owner only */
    pthread_t helpers[]; /* owner only */
};

/* Tells the core that this thread only looks. */
static void breathe(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits until something may have changed. Waking a thread takes longer than many a batch, so this looks
 * for a while before it sleeps. The lock is held before and after. */
static void wait_for_change(struct psd_pool *pool, pthread_cond_t *cond)
{
    enum { LOOKS = 2000 };
    unsigned seen = atomic_load(&pool->changes);

    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < LOOKS && atomic_load_explicit(&pool->changes, memory_order_relaxed) == seen;
         i++)
        breathe();
    pthread_mutex_lock(&pool->lock);
    if (atomic_load(&pool->changes) == seen)
        pthread_cond_wait(cond, &pool->lock);
}

/* Remembers the failure if it is the lowest so far; takes `sentence`. The lock is held. */
static void keep_failure(struct batch *batch, size_t index, psd_status status, char *sentence)
{
    if (index < batch->failed) {
        psd_alloc_free(batch->sentence);
        batch->failed = index;
        batch->status = status;
        batch->sentence = sentence;
    } else {
        psd_alloc_free(sentence);
    }
}

/* Runs the next index of a batch that has one. The lock is held before and after; the caller that
 * owns the batch may be gone as soon as it is released. */
static void run_index(struct psd_pool *pool, struct batch *batch)
{
    size_t index = batch->next++;
    if (batch->next == batch->count)
        psd_list_remove(&batch->link);

    pthread_mutex_unlock(&pool->lock);
    psd_status status = batch->fn(batch->arg, index);
    char *sentence = status == PSD_OK ? NULL : psd_alloc_text("%s", psd_error());
    pthread_mutex_lock(&pool->lock);

    if (status != PSD_OK)
        keep_failure(batch, index, status, sentence);
    if (--batch->unfinished == 0) {
        atomic_fetch_add(&pool->changes, 1);
        pthread_cond_broadcast(&pool->finished);
    }
}

/* Runs the oldest job; the lock is held before and after. */
static void run_job(struct psd_pool *pool)
{
    struct job *job = PSD_CONTAINER_OF(psd_list_first(&pool->jobs), struct job, link);

    psd_list_remove(&job->link);
    pthread_mutex_unlock(&pool->lock);
    job->fn(job->arg);
    psd_alloc_free(job);
    pthread_mutex_lock(&pool->lock);
}

static void help(void *arg)
{
    struct psd_pool *pool = arg;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct psd_list *first = psd_list_first(&pool->batches);
        if (first)
            run_index(pool, PSD_CONTAINER_OF(first, struct batch, link));
        else if (!psd_list_is_empty(&pool->jobs))
            run_job(pool);
        else if (pool->is_closing)
            break;
        else
            wait_for_change(pool, &pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
}

static psd_status start_helpers(struct psd_pool *pool, size_t count)
{
    while (pool->helper_count < count) {
        pthread_t *helper = &pool->helpers[pool->helper_count];
        PSD_TRY(psd_thread_start("psd-pool", help, pool, helper));
        pool->helper_count++;
    }
    return PSD_OK;
}

psd_status psd_pool_create(unsigned threads, struct psd_pool **out)
{
    if (threads == 0)
        return psd_fail(PSD_EINVAL, "a pool needs a thread at least");
    size_t helpers = threads > 1 ? threads - 1 : 1; /* the caller of `each` is one of the threads */
    struct psd_pool *pool = psd_alloc_zero(1, sizeof *pool + helpers * sizeof *pool->helpers);
    if (!pool)
        return PSD_ENOMEM;

    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->finished, NULL);
    psd_list_init(&pool->batches);
    psd_list_init(&pool->jobs);
    pool->shares_batches = threads > 1;
    psd_status status = start_helpers(pool, helpers);
    if (status == PSD_OK)
        *out = pool;
    else
        psd_pool_destroy(pool);
    return status;
}

void psd_pool_destroy(struct psd_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    atomic_fetch_add(&pool->changes, 1);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->helper_count; i++)
        pthread_join(pool->helpers[i], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    psd_alloc_free(pool);
}

/* Makes the batch's failure, if it has one, the caller's. */
static psd_status report(struct batch *batch)
{
    if (batch->failed == batch->count)
        return PSD_OK;
    if (!batch->sentence)
        return psd_fail(batch->status, "index %zu failed, with no memory left to say why",
                        batch->failed);
    psd_fail(batch->status, "%s", batch->sentence);
    psd_alloc_free(batch->sentence);
    return batch->status;
}

psd_status psd_pool_each(struct psd_pool *pool, size_t count,
                         psd_status (*fn)(void *arg, size_t index), void *arg)
{
    struct batch batch = {
        .fn = fn, .arg = arg, .count = count, .unfinished = count, .failed = count};

    psd_list_init(&batch.link);
    pthread_mutex_lock(&pool->lock);
    if (pool->shares_batches && count > 1) {
        psd_list_push_back(&pool->batches, &batch.link);
        atomic_fetch_add(&pool->changes, 1);
        pthread_cond_broadcast(&pool->work);
    }
    while (batch.next < count)
        run_index(pool, &batch);
    while (batch.unfinished > 0)
        wait_for_change(pool, &pool->finished);
    pthread_mutex_unlock(&pool->lock);
    return report(&batch);
}

psd_status psd_pool_submit(struct psd_pool *pool, void (*fn)(void *arg), void *arg)
{
    struct job *job = psd_alloc(sizeof *job);
    if (!job)
        return PSD_ENOMEM;

    job->fn = fn;
    job->arg = arg;
    pthread_mutex_lock(&pool->lock);
    psd_list_push_back(&pool->jobs, &job->link);
    atomic_fetch_add(&pool->changes, 1);
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    return PSD_OK;
}
