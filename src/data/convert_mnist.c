/* convert_mnist.c - images and labels in step. */
#include "base/alloc.h"
#include "data/convert.h"
#include "data/convert_writer.h"
#include "data/idx.h"

enum { KEY_DIGITS = 8 };

struct pair {
    struct psd_idx *images, *labels; /* owned */
    uint8_t *pixels;                 /* owned; one image */
};

static psd_status open_pair(const char *images, const char *labels, struct pair *pair)
{
    PSD_TRY(psd_idx_open(images, 3, &pair->images));
    PSD_TRY(psd_idx_open(labels, 1, &pair->labels));
    if (pair->images->count != pair->labels->count)
        return psd_fail(PSD_ECONFIG, "%s has %u images, but %s has %u labels", images,
                        pair->images->count, labels, pair->labels->count);
    pair->pixels = psd_alloc(pair->images->item_size);
    return pair->pixels ? PSD_OK : PSD_ENOMEM;
}

static void close_pair(struct pair *pair)
{
    psd_idx_close(pair->images);
    psd_idx_close(pair->labels);
    psd_alloc_free(pair->pixels);
}

static psd_status copy_pair(struct pair *pair, struct psd_convert_writer *writer)
{
    uint8_t label = 0;

    for (uint32_t i = 0; i < pair->images->count; i++) {
        PSD_TRY(psd_idx_read(pair->images, pair->pixels));
        PSD_TRY(psd_idx_read(pair->labels, &label));
        PSD_TRY(psd_convert_writer_put(writer, pair->pixels, label));
    }
    PSD_TRY(psd_idx_finish(pair->images));
    return psd_idx_finish(pair->labels);
}

static psd_status write_pair(struct pair *pair, const char *out, struct psd_log *log)
{
    struct psd_sample_shape shape = {1, pair->images->rows, pair->images->cols};
    struct psd_convert_writer writer;

    PSD_TRY(psd_convert_writer_open(out, shape, KEY_DIGITS, &writer));
    psd_log_info(log, "A total of %u items.", pair->images->count);
    psd_log_info(log, "Rows: %zu Cols: %zu", shape.height, shape.width);
    psd_status status = psd_convert_writer_close(&writer, copy_pair(pair, &writer));
    if (status == PSD_OK)
        psd_log_info(log, "Processed %u files.", pair->images->count);
    return status;
}

psd_status psd_convert_mnist(const char *images, const char *labels, const char *out,
                             struct psd_log *log)
{
    struct pair pair = {0};

    psd_status status = open_pair(images, labels, &pair);
    if (status == PSD_OK)
        status = write_pair(&pair, out, log);
    close_pair(&pair);
    return status;
}
