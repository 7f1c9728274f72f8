#include "base/alloc.h"
#include "data/hdf5.h"
#include "data/hdf5_stream.h"
#include "test.h"

#include <unistd.h>

static const struct psd_hdf5_column columns[] = {{"data", 4, {9, 2, 1, 3}}, {"label", 1, {9}}};

static void rows_come_one_batch_after_the_other(void)
{
    struct psd_hdf5_stream *stream = NULL;
    struct psd_hdf5 *file = NULL;
    struct psd_hdf5_dataset *dataset = NULL;
    float data[12], labels[2], again[6];
    const char *path = test_path("out.h5");

    CHECK_OK(psd_hdf5_stream_open(path, columns, 2, &stream));
    for (int batch = 0; batch < 50; batch++) {
        for (int i = 0; i < 12; i++)
            data[i] = (float)(batch * 12 + i);
        labels[0] = (float)batch;
        labels[1] = -(float)batch;
        CHECK_OK(psd_hdf5_stream_add(stream, 2, (const float *const[]){data, labels}));
    }
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(psd_hdf5_stream_commit(stream));
    CHECK_OK(psd_hdf5_open(path, &file));
    CHECK_OK(psd_hdf5_dataset_open(file, "data", &dataset));
    CHECK(psd_hdf5_dataset_rows(dataset) == 100);
    CHECK_OK(psd_hdf5_dataset_read(dataset, 99, 1, again));
    CHECK_NEAR(again[5], 599, 0);
    psd_hdf5_dataset_close(dataset);
    CHECK_OK(psd_hdf5_dataset_open(file, "label", &dataset));
    CHECK_OK(psd_hdf5_dataset_read(dataset, 98, 2, again));
    CHECK_NEAR(again[0], 49, 0);
    CHECK_NEAR(again[1], -49, 0);
    psd_hdf5_dataset_close(dataset);
    psd_hdf5_close(file);
}

static void a_stream_without_rows_is_a_file(void)
{
    struct psd_hdf5_stream *stream = NULL;
    struct psd_hdf5 *file = NULL;
    struct psd_hdf5_dataset *dataset = NULL;

    CHECK_OK(psd_hdf5_stream_open(test_path("none.h5"), columns, 2, &stream));
    CHECK_OK(psd_hdf5_stream_commit(stream));
    CHECK_OK(psd_hdf5_open(test_path("none.h5"), &file));
    CHECK_OK(psd_hdf5_dataset_open(file, "label", &dataset));
    CHECK(psd_hdf5_dataset_rows(dataset) == 0);
    psd_hdf5_dataset_close(dataset);
    psd_hdf5_close(file);
}

static void a_place_that_is_not_there_is_named(void)
{
    struct psd_hdf5_stream *stream = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_stream_open("/no/such/out.h5", columns, 2, &stream));
    CHECK_TEXT("cannot write /no/such/out.h5: No such file or directory", psd_error());
}

static psd_status stream_one(void)
{
    struct psd_hdf5_stream *stream = NULL;
    const float values[6] = {0};

    PSD_TRY(psd_hdf5_stream_open(test_path("stream.h5"), columns, 2, &stream));
    psd_status status = psd_hdf5_stream_add(stream, 1, (const float *const[]){values, values});
    if (status == PSD_OK)
        return psd_hdf5_stream_commit(stream);
    psd_hdf5_stream_abandon(stream);
    return status;
}

static void writing_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = stream_one();
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK((access(test_path("stream.h5"), F_OK) == 0) == !failed);
    }
}

int main(int argc, char **argv)
{
    RUN(rows_come_one_batch_after_the_other)
    RUN(a_stream_without_rows_is_a_file)
    RUN(a_place_that_is_not_there_is_named)
    RUN(writing_survives_every_failed_allocation)
}
