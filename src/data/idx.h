/* idx.h - the files that MNIST and its relatives come in, compressed by gzip or not.
 *
 *     psd_idx_open("train-images-idx3-ubyte.gz", 3, &idx);
 *     for (i = 0; i < idx->count; i++)
 *         psd_idx_read(idx, image);                   idx->item_size bytes
 *     psd_idx_finish(idx);                            sees that nothing follows
 *     psd_idx_close(idx);
 *
 * One thread at a time. */
#ifndef PSD_DATA_IDX_H
#define PSD_DATA_IDX_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { PSD_IDX_AXES = 3 };

/* An open file. */
struct psd_idx {
    uint32_t count;      /* of items: the first axis */
    uint32_t rows, cols; /* of an item: the others, or 1 */
    size_t item_size;    /* bytes of an item, at least 1 */
    char *path;          /* owned; for sentences */
    void *file;          /* owned; zlib's */
    uint32_t done;       /* items read so far */
};

/* Opens a file of unsigned bytes with `axes` axes, 1 for labels or 3 for images. The caller owns
 * *out until close. PSD_ECONFIG: it is no such file. */
psd_status psd_idx_open(const char *path, unsigned axes, struct psd_idx **out);
void psd_idx_close(struct psd_idx *idx);

/* Reads the next item, of which there must be one. PSD_ECONFIG: the file breaks off. */
psd_status psd_idx_read(struct psd_idx *idx, void *item);

/* After the last item: PSD_ECONFIG when something follows it. */
psd_status psd_idx_finish(struct psd_idx *idx);

#endif
