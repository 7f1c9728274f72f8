/* stand_in.h - layers that read files become Input layers of the same shapes, for who has no files.
 *
 *     Data, 256 x 3 x 227 x 227 out of ilsvrc12_train_lmdb   -->   Input of 256 x 3 x 227 x 227
 *
 * Shapes of a net, one iteration on made-up samples, a plan of its communication: all that needs no
 * samples then needs no database. */
#ifndef PSD_ENGINE_STAND_IN_H
#define PSD_ENGINE_STAND_IN_H

#include "engine/blob.h"
#include "proto/caffe.pb-c.h"
#include "proto/document.h"

/* A field left zero takes its default. */
struct psd_stand_in {
    size_t batch;            /* samples of a pass; default: as the prototxt says */
    struct psd_shape sample; /* of one, such as 3 x 227 x 227; default: as the database has it, or
                                else as transform_param cuts it */
};

/* Replaces the layers of `net`, which is in `document`, that read files, but for those that have their
 * files when no sample is given. PSD_ECONFIG: nothing says what samples look like; the
 * sentence has the layer's place. */
psd_status psd_stand_in_apply(const struct psd_stand_in *stand_in, struct psd_document *document,
                              Caffe__NetParameter *net);

/* The type that the layer has in the prototxt, also where another layer stands in for it. */
const char *psd_stand_in_type(const Caffe__LayerParameter *layer);

#endif
