/* caffe_test.c - batches equal those that Caffe made of the same databases (tests/fixtures/data).
 *
 * Caffe's random draws are its own; where chance decides, each sample must be a legal crop or
 * mirror of its record. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/path.h"
#include "data/feed.h"
#include "data/mean.h"
#include "proto/document.h"
#include "test.h"

#include <limits.h>

/* A Data layer of a net in the fixtures, opened. */
struct layer {
    char folder[PATH_MAX];
    struct psd_document *net;
    const Caffe__LayerParameter *param; /* borrowed from the net */
    struct psd_source *source;
    struct psd_transform *transform;
    struct psd_feed *feed;
    struct psd_sample_shape shape;
    size_t batch, size; /* samples, and values of one */
};

static const char *path_in(const struct layer *layer, const char *name)
{
    static char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/%s", layer->folder, name);
    return path;
}

static void open_layer(const char *name, Caffe__Phase phase, struct layer *layer)
{
    char *source = NULL;

    snprintf(layer->folder, sizeof layer->folder, "tests/fixtures/data/%s", name);
    CHECK_OK(psd_document_read(path_in(layer, "net.prototxt"), PSD_DOCUMENT_TEXT,
                               &caffe__net_parameter__descriptor, &layer->net));
    layer->param = ((Caffe__NetParameter *)layer->net->root)->layer[0];
    CHECK_OK(psd_path_find(layer->param->data_param->source, layer->net->path, &source));
    CHECK_OK(psd_source_open("lmdb", source, &layer->source));
    psd_alloc_free(source);
    CHECK_OK(psd_transform_create(layer->param->transform_param, phase, layer->net->path,
                                  &layer->transform));
    layer->batch = layer->param->data_param->batch_size;
    CHECK_OK(psd_feed_open(&(struct psd_feed_options){.source = layer->source,
                                                      .transform = layer->transform,
                                                      .batch = layer->batch,
                                                      .seed = 1701},
                           &layer->feed));
    layer->shape = psd_feed_shape(layer->feed);
    layer->size = layer->shape.channels * layer->shape.height * layer->shape.width;
}

static void close_layer(struct layer *layer)
{
    psd_feed_close(layer->feed);
    psd_transform_destroy(layer->transform);
    psd_source_close(layer->source);
    psd_document_destroy(layer->net);
}

/* Values of a fixture; the caller closes *file. */
static const float *load(const struct layer *layer, const char *name, size_t count,
                         struct psd_file *file)
{
    CHECK_OK(psd_file_open(path_in(layer, name), file));
    CHECK(file->size == count * sizeof(float));
    return (const float *)(const void *)file->data;
}

static void check_close(const float *ours, const float *theirs, size_t count)
{
    float most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, fabsf(theirs[i]));
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(ours[i], theirs[i], 1e-5 * (double)most);
}

static void what_chance_does_not_touch_is_equal(void)
{
    static const struct {
        const char *name;
        uint64_t forward_times;
    } cases[] = {
        {"enc_test", 1},       {"gray_test", 1},
        {"resized_test", 1},   {"raw_test_crop_meanfile", 1},
        {"raw_test_scale", 3}, {"raw_test_crop_meanval", 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layer layer = {0};
        struct psd_batch *batch = NULL;
        struct psd_file file;
        fprintf(stderr, "    %s\n", cases[i].name);
        open_layer(cases[i].name, CAFFE__PHASE__TEST, &layer);
        CHECK_OK(psd_feed_start(layer.feed, cases[i].forward_times - 1, 0));
        CHECK_OK(psd_feed_take(layer.feed, &batch));
        check_close(batch->data, load(&layer, "out_data.bin", layer.batch * layer.size, &file),
                    layer.batch * layer.size);
        psd_file_close(&file);
        check_close(batch->label, load(&layer, "out_label.bin", layer.batch, &file), layer.batch);
        psd_file_close(&file);
        close_layer(&layer);
    }
}

/* One way to cut a sample; a window and perhaps a mirror. */
struct cut {
    size_t top, left;
    bool mirrored;
};

/* Whether `values` are the sample, cut like this, less the mean. */
static bool is_cut(const struct layer *layer, const struct psd_sample *sample,
                   const struct psd_mean *mean, struct cut cut, const float *values)
{
    struct psd_sample_shape in = sample->shape, out = layer->shape;
    const float *means = psd_mean_image(mean);

    for (size_t i = 0; i < layer->size; i++) {
        size_t c = i / out.width / out.height, y = i / out.width % out.height, x = i % out.width;
        if (cut.mirrored)
            x = out.width - 1 - x;
        size_t at = (c * in.height + cut.top + y) * in.width + cut.left + x;
        float wanted = (float)sample->bytes[at] - (means ? means[at] : psd_mean_value(mean, c));
        if (fabsf(values[i] - wanted) > 2.55e-3f)
            return false;
    }
    return true;
}

static bool is_legal(const struct layer *layer, const struct psd_sample *sample,
                     const struct psd_mean *mean, const float *values)
{
    size_t down = sample->shape.height - layer->shape.height;
    size_t right = sample->shape.width - layer->shape.width;

    for (size_t i = 0; i < 2 * (down + 1) * (right + 1); i++) {
        struct cut cut = {i / 2 / (right + 1), i / 2 % (right + 1), i % 2};
        if (is_cut(layer, sample, mean, cut, values))
            return true;
    }
    return false;
}

/* Sees that sample k of the batch is a legal cut of its record, for Caffe's values and ours. */
static void check_legal(const struct layer *layer, const struct psd_batch *batch,
                        const float *theirs, const struct psd_mean *mean)
{
    struct psd_record record = {0};
    struct psd_sample_room room = {0};
    struct psd_sample sample;

    for (size_t k = 0; k < layer->batch; k++) {
        uint64_t index = (batch->iteration * layer->batch + k) % psd_source_count(layer->source);
        CHECK_OK(psd_source_read(layer->source, index, &record));
        CHECK_OK(psd_sample_read(&record.datum, PSD_IMAGE_NATIVE, &room, &sample));
        CHECK(is_legal(layer, &sample, mean, theirs + k * layer->size));
        CHECK(is_legal(layer, &sample, mean, batch->data + k * layer->size));
    }
    psd_record_fini(&record);
    psd_sample_room_fini(&room);
}

static void check_training(const char *name, uint64_t forward_times, const struct psd_mean *mean)
{
    struct layer layer = {0};
    struct psd_batch *batch = NULL;
    struct psd_file file;

    open_layer(name, CAFFE__PHASE__TRAIN, &layer);
    CHECK_OK(psd_feed_start(layer.feed, forward_times - 1, 0));
    CHECK_OK(psd_feed_take(layer.feed, &batch));
    check_close(batch->label, load(&layer, "out_label.bin", layer.batch, &file), layer.batch);
    psd_file_close(&file);
    check_legal(&layer, batch, load(&layer, "out_data.bin", layer.batch * layer.size, &file), mean);
    psd_file_close(&file);
    close_layer(&layer);
}

static void what_chance_touches_is_legal(void)
{
    struct psd_mean mean = {0};
    float value = 100;

    CHECK_OK(psd_mean_from_values(&value, 1, &mean));
    check_training("raw_train_crop_mirror", 2, &mean);
    psd_mean_fini(&mean);
    CHECK_OK(psd_mean_read("tests/fixtures/data/mean.binaryproto", &mean));
    check_training("raw_train_mirror_meanfile", 1, &mean);
    psd_mean_fini(&mean);
}

int main(int argc, char **argv)
{
    RUN(what_chance_does_not_touch_is_equal)
    RUN(what_chance_touches_is_legal)
}
