#include "data/hdf5_window.h"
#include "base/alloc.h"

#include <string.h>

static void drop_window(struct psd_hdf5_window *window)
{
    psd_alloc_free(window->values);
    window->values = NULL;
    window->count = 0;
}

void psd_hdf5_window_close(struct psd_hdf5_window *window)
{
    drop_window(window);
    psd_hdf5_dataset_close(window->dataset);
    window->dataset = NULL;
}

/* Makes the window one over these rows. */
static psd_status move(struct psd_hdf5_window *window, uint64_t first, uint64_t count)
{
    if (window->count != count) {
        drop_window(window);
        window->values = psd_alloc((size_t)(count * window->row) * sizeof *window->values);
        if (!window->values)
            return PSD_ENOMEM;
    }
    window->first = first;
    window->count = count;
    psd_status status = psd_hdf5_dataset_read(window->dataset, first, count, window->values);
    if (status != PSD_OK)
        drop_window(window);
    return status;
}

/* Makes the window one over the band of chunks that the row is in. */
static psd_status move_to(struct psd_hdf5_window *window, uint64_t row)
{
    uint64_t rows = psd_hdf5_dataset_rows(window->dataset);
    uint64_t band = psd_hdf5_dataset_band(window->dataset), first = row / band * band;

    if (window->count && row >= window->first && row - window->first < window->count)
        return PSD_OK;
    return move(window, first, rows - first < band ? rows - first : band);
}

/* Copies rows out of the window, which has them. */
static void copy(const struct psd_hdf5_window *window, uint64_t first, uint64_t count, float *out)
{
    memcpy(out, window->values + (first - window->first) * window->row,
           (size_t)(count * window->row) * sizeof *out);
}

psd_status psd_hdf5_window_read(struct psd_hdf5_window *window, uint64_t first, uint64_t count,
                                float *out)
{
    if (psd_hdf5_dataset_band(window->dataset) == 1)
        return psd_hdf5_dataset_read(window->dataset, first, count, out);
    while (count) {
        PSD_TRY(move_to(window, first));
        uint64_t left = window->first + window->count - first, part = count < left ? count : left;
        copy(window, first, part, out);
        out += part * window->row;
        first += part;
        count -= part;
    }
    return PSD_OK;
}

psd_status psd_hdf5_window_pick(struct psd_hdf5_window *window, const uint32_t *order, size_t count,
                                float *out)
{
    uint64_t rows = psd_hdf5_dataset_rows(window->dataset);
    bool chunked = psd_hdf5_dataset_band(window->dataset) > 1;

    if (chunked && window->count != rows)
        PSD_TRY(move(window, 0, rows));
    for (size_t i = 0; i < count; i++, out += window->row) {
        if (chunked)
            copy(window, order[i], 1, out);
        else
            PSD_TRY(psd_hdf5_dataset_read(window->dataset, order[i], 1, out));
    }
    return PSD_OK;
}
