#include "base/alloc.h"
#include "data/hdf5.h"
#include "nets.h"

/* A net that writes what it is given; good until the next call. */
static const char *net_text(const char *file_name)
{
    static char text[1000];

    snprintf(text, sizeof text,
             "layer { name: 'd' type: 'Input' top: 'x' top: 'l' "
             "input_param { shape { dim: 3 dim: 2 } shape { dim: 3 } } }"
             "layer { name: 'out' type: 'HDF5Output' bottom: 'x' bottom: 'l' "
             "hdf5_output_param { file_name: '%s' } }",
             test_path(file_name));
    return text;
}

static void pass(struct lab *lab, float base)
{
    for (int i = 0; i < 6; i++)
        lab_values(lab, "x")[i] = base + (float)i;
    for (int i = 0; i < 3; i++)
        lab_values(lab, "l")[i] = -base - (float)i;
    CHECK_OK(psd_net_forward(lab->net, NULL));
}

/* The file has passes with these bases, one after the other. */
static void expect_file(const char *name, size_t count, const float *bases)
{
    struct psd_hdf5 *file = NULL;
    struct psd_hdf5_dataset *data = NULL, *label = NULL;
    float values[6];

    CHECK_OK(psd_hdf5_open(test_path(name), &file));
    CHECK_OK(psd_hdf5_dataset_open(file, "data", &data));
    CHECK_OK(psd_hdf5_dataset_open(file, "label", &label));
    CHECK(psd_hdf5_dataset_space(data)->axes == 4 && psd_hdf5_dataset_row(data) == 2);
    CHECK(psd_hdf5_dataset_space(label)->axes == 4 && psd_hdf5_dataset_row(label) == 1);
    CHECK(psd_hdf5_dataset_rows(data) == 3 * count && psd_hdf5_dataset_rows(label) == 3 * count);
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(psd_hdf5_dataset_read(data, 3 * i, 3, values));
        CHECK_NEAR(values[5], bases[i] + 5, 0);
        CHECK_OK(psd_hdf5_dataset_read(label, 3 * i, 3, values));
        CHECK_NEAR(values[2], -bases[i] - 2, 0);
    }
    psd_hdf5_dataset_close(label);
    psd_hdf5_dataset_close(data);
    psd_hdf5_close(file);
}

static void every_pass_is_written(void)
{
    struct lab lab = lab_of(net_text("out.h5"));

    pass(&lab, 10);
    pass(&lab, 20);
    pass(&lab, 30);
    CHECK(access(test_path("out.h5"), F_OK) != 0);
    lab_close(&lab);
    expect_file("out.h5", 3, (const float[]){10, 20, 30});
}

static void each_worker_has_a_file(void)
{
    static const unsigned workers[] = {1, 3};
    struct lab lab = lab_of(net_text("out.h5"));

    CHECK_OK(psd_net_seek(lab.net,
                          &(struct psd_net_position){.workers = workers, .n_workers = 2, .of = 4}));
    for (int i = 0; i < 4; i++)
        pass(&lab, (float)i * 10);
    lab_close(&lab);
    expect_file("out.h5_1", 2, (const float[]){0, 20});
    expect_file("out.h5_3", 2, (const float[]){10, 30});
    CHECK(access(test_path("out.h5"), F_OK) != 0);
}

static void nets_that_share_a_test_have_files_of_their_own(void)
{
    struct lab lab = lab_of(net_text("out.h5"));

    CHECK_OK(psd_net_seek(lab.net, &(struct psd_net_position){.iteration = 2, .stride = 3}));
    pass(&lab, 10);
    pass(&lab, 20);
    lab_close(&lab);
    expect_file("out.h5_2", 2, (const float[]){10, 20});
}

/* A blob that is written and read has the gradient of its reader. */
static void what_is_written_learns_nothing(void)
{
    char text[1600];

    snprintf(text, sizeof text,
             "force_backward: true layer { name: 'in' type: 'Input' top: 'y' input_param { "
             "shape { dim: 3 dim: 2 } } } %s layer { name: 'e' type: 'EuclideanLoss' "
             "bottom: 'x' bottom: 'y' top: 'loss' }",
             net_text("out.h5"));
    struct lab lab = lab_of(text);
    pass(&lab, 1);
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_NEAR(lab_gradient(&lab, "x")[2], 3. / 3, 1e-6);
    lab_close(&lab);
}

#define NET_OF(second, more)                                                \
    "layer { name: 'd' type: 'Input' top: 'x' top: 'l' "                    \
    "input_param { shape { dim: 3 dim: 2 } shape { dim: " second " } } }\n" \
    "layer { name: 'out' type: 'HDF5Output' bottom: 'x' bottom: 'l' " more " }"

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:1: layer out: has no file_name", lab_refuses(NET_OF("3", "")));
    CHECK_TEXT(
        "test.prototxt:2:1: layer out: needs as many rows of both, but has \"x\" of shape 3 2 "
        "(6) from layer d and \"l\" of shape 4 (4) from layer d",
        lab_refuses(NET_OF("4", "hdf5_output_param { file_name: 'x' }")));
    struct lab lab = lab_of(NET_OF("3", "hdf5_output_param { file_name: '/no/such/x' }"));
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("test.prototxt:2:84: layer out: cannot write /no/such/x: No such file or directory",
               psd_error());
    lab_close(&lab);
}

static void writing_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct lab lab = lab_of(net_text("out.h5"));
        psd_alloc_fail_at(n);
        psd_status status = psd_net_forward(lab.net, NULL);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        lab_close(&lab);
    }
}

int main(int argc, char **argv)
{
    RUN(every_pass_is_written)
    RUN(each_worker_has_a_file)
    RUN(nets_that_share_a_test_have_files_of_their_own)
    RUN(what_is_written_learns_nothing)
    RUN(impossible_parameters_are_refused)
    RUN(writing_survives_every_failed_allocation)
}
