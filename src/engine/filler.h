/* filler.h - the values that parameters start with.
 *
 * Value number e of parameter p is a function of (seed, p, e): it does not depend on which other
 * parameters there are before it is filled, or on how many machines fill it. */
#ifndef PSD_ENGINE_FILLER_H
#define PSD_ENGINE_FILLER_H

#include "engine/blob.h"
#include "proto/caffe.pb-c.h"

/* Fills the values of `blob`; NULL as filler is constant 0. `stream` tells parameters apart.
 * PSD_ECONFIG: an unknown type, or one that does not fit the shape. */
psd_status psd_filler_fill(const Caffe__FillerParameter *filler, uint64_t seed, uint64_t stream,
                           struct psd_blob *blob);

/* The same for a part of something larger, whose first value is `first` of the whole: what is drawn is
 * drawn for the places in the whole. */
psd_status psd_filler_fill_part(const Caffe__FillerParameter *filler, uint64_t seed,
                                uint64_t stream, uint64_t first, struct psd_blob *blob);

#endif
