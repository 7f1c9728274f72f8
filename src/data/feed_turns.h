/* feed_turns.h - the workers that a feed serves, and which records are whose; only for feed.c.
 *
 *     one source     in iteration t worker w has records t * global_batch + offset[w] + 0, 1, 2 ...
 *     one for each   ... and here records t * batch + 0, 1, 2 ... of its own
 *
 * Belongs to one thread at a time: the owner's, or while the feed runs the reading one. */
#ifndef PSD_DATA_FEED_TURNS_H
#define PSD_DATA_FEED_TURNS_H

#include "data/feed.h"

struct psd_feed_turns;

/* Looks for the first good record of each source. `options` has its defaults filled in; the caller
 * owns *out. PSD_ECONFIG: there is none, or their shapes differ. */
psd_status psd_feed_turns_create(const struct psd_feed_options *options,
                                 struct psd_feed_turns **out);
void psd_feed_turns_destroy(struct psd_feed_turns *turns);

/* The shape of all samples. */
struct psd_sample_shape psd_feed_turns_shape(const struct psd_feed_turns *turns);

/* Fills a batch with the samples of worker `turn` in `iteration`. */
psd_status psd_feed_turns_fill(struct psd_feed_turns *turns, uint64_t iteration, size_t turn,
                               struct psd_batch *batch);

#endif
