/* mean_test.c - files that hold a mean image, and files that do not. */
#include "data/mean.h"
#include "proto/caffe.pb-c.h"
#include "scratch.h"

static const char *write_blob(const Caffe__BlobProto *blob)
{
    uint8_t bytes[1000];

    CHECK(caffe__blob_proto__get_packed_size(blob) <= sizeof bytes);
    return scratch_file("mean", bytes, caffe__blob_proto__pack(blob, bytes));
}

static float values[] = {1, 2, 3, 4, 5, 6};
static double doubles[] = {1, 2, 3, 4, 5, 6};
static Caffe__BlobProto blob = CAFFE__BLOB_PROTO__INIT;
static Caffe__BlobShape blob_shape = CAFFE__BLOB_SHAPE__INIT;

static void check_mean(void)
{
    struct psd_mean mean = {0};

    CHECK_OK(psd_mean_read(write_blob(&blob), &mean));
    CHECK(mean.shape.channels == 1 && mean.shape.height == 2 && mean.shape.width == 3);
    for (size_t i = 0; i < 6; i++)
        CHECK_NEAR(psd_mean_image(&mean)[i], values[i], 0);
    CHECK_NEAR(psd_mean_value(&mean, 0), 0, 0);
    CHECK_OK(psd_mean_check(&mean, (struct psd_sample_shape){1, 2, 3}));
    CHECK_STATUS(PSD_ECONFIG, psd_mean_check(&mean, (struct psd_sample_shape){1, 3, 2}));
    CHECK(strstr(psd_error(), "its shape 1 x 3 x 2 is not 1 x 2 x 3, that of "));
    psd_mean_fini(&mean);
}

static void every_way_of_writing_a_mean_is_read(void)
{
    int64_t dims[] = {1, 1, 2, 3};

    blob.data = values;
    blob.n_data = 6;
    blob.has_num = blob.has_channels = blob.has_height = blob.has_width = 1;
    blob.num = 1, blob.channels = 1, blob.height = 2, blob.width = 3;
    check_mean();
    blob.num = blob.channels = blob.height = blob.width = 0;
    blob.shape = &blob_shape;
    blob_shape.dim = dims;
    blob_shape.n_dim = 4;
    check_mean();
    blob_shape.dim = dims + 1;
    blob_shape.n_dim = 3;
    check_mean();
    blob.double_data = doubles;
    blob.n_double_data = 6;
    blob.n_data = 0;
    check_mean();
}

static void numbers_are_for_all_channels_or_for_each(void)
{
    struct psd_mean mean = {0};

    CHECK_NEAR(psd_mean_value(&mean, 3), 0, 0);
    CHECK_OK(psd_mean_check(&mean, (struct psd_sample_shape){4, 1, 1}));
    CHECK_OK(psd_mean_from_values(values + 4, 1, &mean));
    CHECK_NEAR(psd_mean_value(&mean, 3), 5, 0);
    CHECK_OK(psd_mean_check(&mean, (struct psd_sample_shape){4, 1, 1}));
    psd_mean_fini(&mean);
    CHECK_OK(psd_mean_from_values(values, 3, &mean));
    CHECK_NEAR(psd_mean_value(&mean, 2), 3, 0);
    CHECK_OK(psd_mean_check(&mean, (struct psd_sample_shape){3, 1, 1}));
    CHECK_STATUS(PSD_ECONFIG, psd_mean_check(&mean, (struct psd_sample_shape){4, 1, 1}));
    psd_mean_fini(&mean);
}

static void what_is_no_mean_is_refused(void)
{
    static const struct {
        const char *why;
        int64_t dims[4];
        size_t axes;
    } cases[] = {
        {"two axes", {2, 3}, 2},
        {"two images", {2, 1, 1, 3}, 4},
        {"an axis of nothing", {1, 0, 2, 3}, 4},
        {"a negative axis", {1, -1, 2, -3}, 4},
        {"more values than there are", {1, 2, 2, 3}, 4},
        {"a shape beyond 2^64", {1, 1ll << 31, 1ll << 31, 1ll << 31}, 4},
    };
    struct psd_mean mean = {0};

    blob.data = values;
    blob.n_data = 6;
    blob.shape = &blob_shape;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t dims[4];
        fprintf(stderr, "    %s\n", cases[i].why);
        memcpy(dims, cases[i].dims, sizeof dims);
        blob_shape.dim = dims;
        blob_shape.n_dim = cases[i].axes;
        CHECK_STATUS(PSD_ECONFIG, psd_mean_read(write_blob(&blob), &mean));
        CHECK(mean.values == NULL);
    }
}

int main(int argc, char **argv)
{
    RUN(every_way_of_writing_a_mean_is_read)
    RUN(numbers_are_for_all_channels_or_for_each)
    RUN(what_is_no_mean_is_refused)
}
