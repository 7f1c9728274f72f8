/* feed.h - batches, read and transformed ahead of time on a thread of their own.
 *
 *     source --> record --> sample --> transform --> [ batch | batch | batch ] --> taker
 *                the feed's thread                     a ring of buffers
 *
 *     psd_feed_open(&(struct psd_feed_options){...}, &feed);
 *     psd_feed_start(feed, iteration, 0);              from any iteration, exactly
 *     for (;;) {
 *         psd_feed_take(feed, &batch);                 waits if reading is slower than training
 *         ... batch->data, batch->label ...
 *         psd_feed_give(feed, batch);
 *     }
 *     psd_feed_close(feed);
 *
 * Which record goes where is a formula, so workers need no talk about it and a resumed job goes on
 * where it was: in iteration t, sample k of a worker whose samples start at `offset` of the global
 * batch is record
 *
 *     (skip + t * global_batch + offset + k) mod records
 *
 * which is Caffe's order, from the first key to the last and over again. A record that cannot be
 * used is replaced by the next good one of that order, logged once, and counted.
 *
 * A feed may serve several workers in turn, a batch each, before the next iteration:
 *
 *     offsets {0, 8, 24}     t = 0: 0-7, 8-15, 24-31     t = 1: 0-7, 8-15, 24-31     ...
 *
 * One thread opens, starts, takes, gives, stops and closes. */
#ifndef PSD_DATA_FEED_H
#define PSD_DATA_FEED_H

#include "base/log.h"
#include "base/status.h"
#include "data/bad.h"
#include "data/source.h"
#include "data/transform.h"

struct psd_feed;

/* A field left zero takes its default; source (or sources), transform and batch have none. */
struct psd_feed_options {
    const struct psd_source *source;       /* borrowed until close */
    const struct psd_transform *transform; /* borrowed until close */
    struct psd_log *log;                   /* borrowed until close; NULL: silent */
    size_t batch;                          /* samples */
    size_t global_batch;                   /* samples of all workers together; default: batch */
    size_t turns;                          /* workers that take turns; default 1 */
    const size_t *offsets;                 /* [turns]: where in the global batch each one's samples
                                              start; copied; NULL: 0 */
    const struct psd_source *const
        *sources;       /* [turns]: what each reads alone, from its first record
                                                on; copied; NULL: all read `source` */
    uint64_t stride;    /* iterations from a round to the next; default 1 */
    unsigned prefetch;  /* buffers in the ring; default 4, at least 2 */
    uint64_t seed;      /* of the job: for crops, mirrors and the skip */
    uint32_t layer;     /* keeps the chances of several layers apart */
    uint32_t rand_skip; /* skips fewer than these records, by chance */
    struct psd_bad_limit max_bad;
};

/* What a taker gets. */
struct psd_batch {
    float *data;  /* borrowed until give; [batch][channels][height][width] */
    float *label; /* borrowed until give; [batch] */
    uint64_t iteration;
    size_t turn;  /* which worker's it is */
    uint64_t bad; /* records left out so far */
};

/* Makes a feed and finds the shape of its samples from the first record; nothing runs yet. The
 * caller owns *out until close. PSD_ECONFIG: there are no records, too few good ones, or the
 * transform does not fit the first. */
psd_status psd_feed_open(const struct psd_feed_options *options, struct psd_feed **out);

/* Stops the feed if it runs, and frees it. NULL is fine. */
void psd_feed_close(struct psd_feed *feed);

/* The shape of a sample in a batch. */
struct psd_sample_shape psd_feed_shape(const struct psd_feed *feed);

/* Starts reading at `iteration` with the worker `turn`; a feed that runs is stopped first. Batches
 * that were taken must have been given back. Iterations count rounds, from 0 to 2^32 - 1. */
psd_status psd_feed_start(struct psd_feed *feed, uint64_t iteration, size_t turn);

/* Waits for the batch whose turn it is; the caller gives it back. A failure of the reading thread
 * arrives here, with its sentence, and at every take after it. */
psd_status psd_feed_take(struct psd_feed *feed, struct psd_batch **out);

/* Gives a batch back; its buffer is filled again. */
void psd_feed_give(struct psd_feed *feed, struct psd_batch *batch);

/* Ends reading ahead and waits for the thread. Stopping twice is fine. */
void psd_feed_stop(struct psd_feed *feed);

#endif
