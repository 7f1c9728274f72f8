/* layout.c - what can be asked of a layout; layout_build.c makes it. */
#include "comm/layout.h"
#include "base/alloc.h"
#include "math/product.h"

void psd_layout_destroy(struct psd_layout *layout)
{
    if (!layout)
        return;
    psd_alloc_free(layout->params);
    psd_alloc_free(layout->pieces);
    psd_alloc_free(layout->parts);
    psd_alloc_free(layout);
}

/* Where the row tiles of a rank begin, when all are shared out evenly. */
static size_t first_row(const struct psd_job *job, size_t rows, unsigned rank)
{
    size_t tiles = (rows + PSD_PRODUCT_ROWS - 1) / PSD_PRODUCT_ROWS;
    size_t first = tiles * rank / job->ranks * PSD_PRODUCT_ROWS;

    return first < rows ? first : rows;
}

struct psd_rows psd_layout_rows(const struct psd_layout *layout, size_t param, unsigned rank)
{
    const struct psd_job_param *weight = &layout->job->params[param];
    size_t rows = weight->rows;

    if (weight->route == PSD_ROUTE_ROW_SHARDED)
        return (struct psd_rows){first_row(layout->job, rows, rank),
                                 first_row(layout->job, rows, rank + 1)};
    if (weight->route == PSD_ROUTE_SINGLE_OWNER &&
        layout->pieces[layout->params[param].first_piece].server != rank)
        return (struct psd_rows){0, 0};
    return (struct psd_rows){0, rows};
}

size_t psd_layout_owned(const struct psd_layout *layout, unsigned rank)
{
    size_t values = 0;

    for (size_t i = 0; i < layout->n_pieces; i++) {
        const struct psd_piece *piece = &layout->pieces[i];
        size_t param = layout->parts[piece->first_part].param;
        if (piece->server == rank && !psd_job_is_factored(layout->job, param))
            values += piece->count;
    }
    return values * sizeof(float);
}
