/* feed.c - one thread fills buffers; two queues carry them to the taker and back.
 *
 *     free  ---> fill ---> full ---> take ---> give ---.
 *      ^                                               |
 *      '-----------------------------------------------'
 *
 * A queue has room for all buffers, so putting never waits. A buffer belongs to whoever took it out
 * of its queue. Everything else in the feed is the reading thread's while it runs, and the owner's
 * before start and after stop. */
#include "data/feed.h"
#include "base/alloc.h"
#include "base/queue.h"
#include "base/thread.h"
#include "data/feed_turns.h"

#include <assert.h>
#include <stdio.h>

enum { PREFETCH = 4, PREFETCH_LEAST = 2, SENTENCE = 4096, LINE = 64 };

/* A buffer of the ring, or the message that there will be no more. */
struct buffer {
    struct psd_batch batch; /* first, so that a batch leads back to its buffer */
    psd_status status;      /* not PSD_OK: the sentence instead of a batch */
    char sentence[SENTENCE];
};

struct psd_feed {
    struct psd_feed_options options;
    struct psd_feed_turns *turns; /* owned */
    struct buffer *ring;          /* owned; options.prefetch of them */
    float *values;                /* owned; all that the buffers point to */
    uint64_t iteration;           /* to be read next, */
    size_t turn;                  /* and whose */
    pthread_t thread;
    bool running;
    struct psd_queue *free, *full; /* owned while running; of struct buffer * */
    struct buffer *failed;         /* borrowed from the ring: the failure that ended the thread */
};

/* --- the reading thread ----------------------------------------------------------------------- */

/* The next worker's turn, or the first one's in the next iteration. */
static void go_on(struct psd_feed *feed)
{
    if (++feed->turn < feed->options.turns)
        return;
    feed->turn = 0;
    feed->iteration += feed->options.stride;
}

static void run(void *arg)
{
    struct psd_feed *feed = arg;
    struct buffer *buffer = NULL;
    psd_status status = PSD_OK;

    while (status == PSD_OK && psd_queue_take(feed->free, &buffer)) {
        status = psd_feed_turns_fill(feed->turns, feed->iteration, feed->turn, &buffer->batch);
        buffer->status = status;
        if (status != PSD_OK)
            snprintf(buffer->sentence, sizeof buffer->sentence, "%s", psd_error());
        psd_queue_put(feed->full, &buffer);
        go_on(feed);
    }
}

/* --- opening and closing ---------------------------------------------------------------------- */

static void set_defaults(struct psd_feed_options *options)
{
    if (options->sources)
        options->source = options->sources[0];
    if (options->global_batch == 0)
        options->global_batch = options->batch;
    if (options->turns == 0)
        options->turns = 1;
    if (options->stride == 0)
        options->stride = 1;
    if (options->prefetch == 0)
        options->prefetch = PREFETCH;
    if (options->prefetch < PREFETCH_LEAST) /* one to read into while the other is in use */
        options->prefetch = PREFETCH_LEAST;
}

/* All buffers in one piece of memory, each array at the start of a cache line. */
static psd_status make_ring(struct psd_feed *feed)
{
    struct psd_sample_shape shape = psd_feed_shape(feed);
    size_t count = feed->options.prefetch, line = LINE / sizeof(float), values, total;
    size_t labels = (feed->options.batch + line - 1) / line * line;

    if (__builtin_mul_overflow(feed->options.batch, shape.channels * shape.height * shape.width,
                               &values) ||
        values > SIZE_MAX / sizeof(float) / 2 / count)
        return psd_fail(PSD_ENOMEM, "a batch of %zu samples is too large", feed->options.batch);
    values = (values + line - 1) / line * line;
    total = count * (values + labels) * sizeof(float);
    feed->values = psd_alloc_aligned(LINE, total);
    feed->ring = psd_alloc_zero(count, sizeof *feed->ring);
    if (!feed->values || !feed->ring)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        feed->ring[i].batch.data = feed->values + i * (values + labels);
        feed->ring[i].batch.label = feed->ring[i].batch.data + values;
    }
    return PSD_OK;
}

static psd_status prepare(struct psd_feed *feed)
{
    const struct psd_feed_options *options = &feed->options;

    if (options->batch == 0)
        return psd_fail(PSD_ECONFIG, "%s: batch_size is 0", psd_source_path(options->source));
    PSD_TRY(psd_feed_turns_create(options, &feed->turns));
    feed->options.offsets = NULL; /* borrowed no longer */
    feed->options.sources = NULL;
    return make_ring(feed);
}

psd_status psd_feed_open(const struct psd_feed_options *options, struct psd_feed **out)
{
    struct psd_feed *feed = psd_alloc_zero(1, sizeof *feed);

    if (!feed)
        return PSD_ENOMEM;
    feed->options = *options;
    set_defaults(&feed->options);
    psd_status status = prepare(feed);
    if (status == PSD_OK)
        *out = feed;
    else
        psd_feed_close(feed);
    return status;
}

void psd_feed_close(struct psd_feed *feed)
{
    if (!feed)
        return;
    psd_feed_stop(feed);
    psd_feed_turns_destroy(feed->turns);
    psd_alloc_free(feed->ring);
    psd_alloc_free(feed->values);
    psd_alloc_free(feed);
}

struct psd_sample_shape psd_feed_shape(const struct psd_feed *feed)
{
    return psd_feed_turns_shape(feed->turns);
}

/* --- running ---------------------------------------------------------------------------------- */

static psd_status make_queues(struct psd_feed *feed)
{
    size_t count = feed->options.prefetch;

    PSD_TRY(psd_queue_create(sizeof(struct buffer *), count, &feed->free));
    PSD_TRY(psd_queue_create(sizeof(struct buffer *), count, &feed->full));
    for (size_t i = 0; i < count; i++) {
        struct buffer *buffer = &feed->ring[i];
        psd_queue_put(feed->free, &buffer);
    }
    return PSD_OK;
}

static void drop_queues(struct psd_feed *feed)
{
    if (feed->free)
        psd_queue_destroy(feed->free);
    if (feed->full)
        psd_queue_destroy(feed->full);
    feed->free = feed->full = NULL;
}

psd_status psd_feed_start(struct psd_feed *feed, uint64_t iteration, size_t turn)
{
    assert(turn < feed->options.turns);
    psd_feed_stop(feed);
    feed->iteration = iteration;
    feed->turn = turn;
    feed->failed = NULL;
    psd_status status = make_queues(feed);
    if (status == PSD_OK)
        status = psd_thread_start("psd-feed", run, feed, &feed->thread);
    feed->running = status == PSD_OK;
    if (status != PSD_OK)
        drop_queues(feed);
    return status;
}

psd_status psd_feed_take(struct psd_feed *feed, struct psd_batch **out)
{
    struct buffer *buffer = feed->failed;

    if (!feed->running)
        return psd_fail(PSD_EINVAL, "the feed of %s does not run",
                        psd_source_path(feed->options.source));
    if (!buffer)
        psd_queue_take(feed->full, &buffer);
    if (buffer->status != PSD_OK) {
        feed->failed = buffer;
        return psd_fail(buffer->status, "%s", buffer->sentence);
    }
    *out = &buffer->batch;
    return PSD_OK;
}

void psd_feed_give(struct psd_feed *feed, struct psd_batch *batch)
{
    struct buffer *buffer = (struct buffer *)batch;

    assert(buffer >= feed->ring && buffer < feed->ring + feed->options.prefetch);
    psd_queue_put(feed->free, &buffer);
}

void psd_feed_stop(struct psd_feed *feed)
{
    if (!feed->running)
        return;
    psd_queue_close(feed->free);
    psd_queue_close(feed->full);
    pthread_join(feed->thread, NULL);
    feed->running = false;
    drop_queues(feed);
}
