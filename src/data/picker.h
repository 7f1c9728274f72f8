/* picker.h - one sample of a batch: the record whose turn it is, or the next good one.
 *
 *     turn  --->  record turn mod N  --->  good: transformed into its place
 *                        |
 *                        '-> bad: logged once, counted; on to the record after it
 *
 * Whether a record is bad depends on nothing but the record and the transform, so every process
 * that has this turn takes the same replacement. One thread at a time. */
#ifndef PSD_DATA_PICKER_H
#define PSD_DATA_PICKER_H

#include "base/log.h"
#include "data/bad.h"
#include "data/source.h"
#include "data/transform.h"

struct psd_picker;

/* The arguments are borrowed until destroy, the limit for the call; the caller owns *out. */
psd_status psd_picker_create(const struct psd_source *source, const struct psd_transform *transform,
                             const struct psd_bad_limit *limit, struct psd_log *log,
                             struct psd_picker **out);
void psd_picker_destroy(struct psd_picker *picker);

/* Finds the shape of transformed samples from the first record that can be read. PSD_ECONFIG: too
 * few can, or the transform does not fit that one. */
psd_status psd_picker_shape(struct psd_picker *picker, struct psd_sample_shape *out);

/* Writes the values and the label of the sample whose turn it is. Samples of another shape than
 * `shape` are bad. PSD_ECONFIG: more records are bad than are borne. */
psd_status psd_picker_pick(struct psd_picker *picker, uint64_t turn, const struct psd_draw *draw,
                           struct psd_sample_shape shape, float *data, float *label);

/* How many bad records were met so far. */
uint64_t psd_picker_bad(const struct psd_picker *picker);

#endif
