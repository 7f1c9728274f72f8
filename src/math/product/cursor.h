/* cursor.h - a way through the samples of all blocks, from first to last. */
#ifndef PSD_MATH_PRODUCT_CURSOR_H
#define PSD_MATH_PRODUCT_CURSOR_H

#include "math/product.h"

#include <stdbool.h>

struct psd_product_cursor {
    const struct psd_product_block *block, *end; /* borrowed */
    size_t sample; /* of the block; less than its count, or at the end */
};

static inline void psd_product_cursor_settle(struct psd_product_cursor *cursor)
{
    while (cursor->block != cursor->end && cursor->sample == cursor->block->count) {
        cursor->block++;
        cursor->sample = 0;
    }
}

static inline struct psd_product_cursor psd_product_cursor_start(
    const struct psd_product_block *blocks, size_t n_blocks)
{
    struct psd_product_cursor cursor = {blocks, blocks + n_blocks, 0};

    psd_product_cursor_settle(&cursor);
    return cursor;
}

static inline bool psd_product_cursor_done(const struct psd_product_cursor *cursor)
{
    return cursor->block == cursor->end;
}

static inline void psd_product_cursor_next(struct psd_product_cursor *cursor)
{
    cursor->sample++;
    psd_product_cursor_settle(cursor);
}

static inline const float *psd_product_cursor_u(const struct psd_product_cursor *cursor)
{
    return cursor->block->u + cursor->sample * cursor->block->u_stride;
}

static inline const float *psd_product_cursor_v(const struct psd_product_cursor *cursor,
                                                size_t cols)
{
    return cursor->block->v + cursor->sample * cols;
}

static inline size_t psd_product_samples(const struct psd_product_block *blocks, size_t n_blocks)
{
    size_t count = 0;

    for (size_t i = 0; i < n_blocks; i++)
        count += blocks[i].count;
    return count;
}

#endif
