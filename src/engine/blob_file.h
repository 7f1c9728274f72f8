/* blob_file.h - a blob in Caffe's files: weights, a solver's history, a mean image. */
#ifndef PSD_ENGINE_BLOB_FILE_H
#define PSD_ENGINE_BLOB_FILE_H

#include "engine/blob.h"
#include "proto/caffe.pb-c.h"
#include "proto/document.h"

/* Whether a file's shape is the blob's; leading ones do not count. PSD_ECONFIG: it is another. */
psd_status psd_blob_check_shape(const struct psd_blob *blob, const struct psd_shape *theirs);

/* Gives the blob the values of the file's. PSD_ECONFIG: its shape or count is another. */
psd_status psd_blob_load(struct psd_blob *blob, const Caffe__BlobProto *from);

/* Adds the blob's shape to an empty message, and `data` and `diff` (NULL: none) as its values. */
psd_status psd_blob_save(const struct psd_blob *blob, const float *data, const float *diff,
                         struct psd_arena *arena, Caffe__BlobProto *to);

#endif
