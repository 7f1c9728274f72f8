/* hdf5_plan_test.c - what is written can be read again, by our reader; h5dump and h5py read it, too. */
#include "base/alloc.h"
#include "data/hdf5.h"
#include "data/hdf5_plan.h"
#include "test.h"

static struct psd_hdf5_plan *new_plan(void)
{
    struct psd_hdf5_plan *plan = NULL;

    CHECK_OK(psd_hdf5_plan_create(&plan));
    return plan;
}

/* Writes the file and opens it. */
static psd_status write_plan(struct psd_hdf5_plan *plan, const char *path, struct psd_hdf5 **out)
{
    uint64_t size = 0;

    PSD_TRY(psd_hdf5_plan_lay_out(plan, &size));
    unsigned char *bytes = psd_alloc((size_t)size);
    if (!bytes)
        return PSD_ENOMEM;
    psd_hdf5_plan_write(plan, bytes);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, (size_t)size, file) == size && fclose(file) == 0);
    psd_alloc_free(bytes);
    return psd_hdf5_open(path, out);
}

static float value_in(const struct psd_hdf5 *file, const char *name)
{
    struct psd_hdf5_dataset *dataset = NULL;
    float value = 0;

    CHECK_OK(psd_hdf5_dataset_open(file, name, &dataset));
    CHECK_OK(psd_hdf5_dataset_read(dataset, 0, 1, &value));
    psd_hdf5_dataset_close(dataset);
    return value;
}

static void a_model_is_read_as_it_was_written(void)
{
    static const float values[12] = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.5f};
    struct psd_hdf5_plan *plan = new_plan();
    struct psd_hdf5 *file = NULL;
    struct psd_hdf5_dataset *dataset = NULL;
    int64_t integer = 0;
    char *text = NULL;
    float again[12];

    CHECK_OK(psd_hdf5_plan_floats(plan, "data/conv/0", 3, (size_t[]){2, 3, 2}, values));
    CHECK_OK(psd_hdf5_plan_floats(plan, "data/conv/1", 0, NULL, values + 1));
    CHECK_OK(psd_hdf5_plan_group(plan, "data/relu"));
    CHECK_OK(psd_hdf5_plan_group(plan, "data/relu/"));
    CHECK_OK(psd_hdf5_plan_floats(plan, "none", 2, (size_t[]){0, 3}, values));
    CHECK_OK(psd_hdf5_plan_integer(plan, "iter", -5));
    CHECK_OK(psd_hdf5_plan_text(plan, "learned_net", "snap_iter_10.caffemodel.h5"));
    CHECK_OK(write_plan(plan, test_path("model.h5"), &file));
    CHECK_OK(psd_hdf5_dataset_open(file, "data/conv/0", &dataset));
    CHECK(psd_hdf5_dataset_space(dataset)->axes == 3);
    CHECK_OK(psd_hdf5_dataset_read(dataset, 0, 2, again));
    for (size_t i = 0; i < 12; i++)
        CHECK_NEAR(again[i], values[i], 0);
    psd_hdf5_dataset_close(dataset);
    CHECK_NEAR(value_in(file, "data/conv/1"), -2, 0);
    CHECK_OK(psd_hdf5_dataset_open(file, "iter", &dataset));
    CHECK_OK(psd_hdf5_dataset_integer(dataset, &integer));
    CHECK(integer == -5);
    psd_hdf5_dataset_close(dataset);
    CHECK_OK(psd_hdf5_dataset_open(file, "learned_net", &dataset));
    CHECK_OK(psd_hdf5_dataset_text(dataset, &text));
    CHECK_TEXT("snap_iter_10.caffemodel.h5", text);
    psd_alloc_free(text);
    psd_hdf5_dataset_close(dataset);
    CHECK_OK(psd_hdf5_dataset_open(file, "none", &dataset));
    CHECK(psd_hdf5_dataset_rows(dataset) == 0);
    psd_hdf5_dataset_close(dataset);
    psd_hdf5_close(file);
    psd_hdf5_plan_destroy(plan);
}

/* Trees of one node, of two levels and of three. */
static void groups_of_any_size_are_found_again(void)
{
    static const int sizes[] = {0, 1, 8, 9, 256, 257, 2000, 8200};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct psd_hdf5_plan *plan = new_plan();
        struct psd_hdf5 *file = NULL;
        struct psd_hdf5_names names;
        static float values[8200];
        char name[40];
        for (int k = 0; k < sizes[i]; k++) {
            snprintf(name, sizeof name, "many/name%d", k * 7919 % 8219);
            values[k] = (float)(k * 7919 % 8219);
            CHECK_OK(psd_hdf5_plan_floats(plan, name, 0, NULL, &values[k]));
        }
        CHECK_OK(psd_hdf5_plan_group(plan, "many"));
        CHECK_OK(write_plan(plan, test_path("many.h5"), &file));
        CHECK_OK(psd_hdf5_names(file, "many", &names));
        CHECK(names.count == (size_t)sizes[i]);
        for (size_t k = 1; k < names.count; k++)
            CHECK(strcmp(names.all[k - 1].text, names.all[k].text) < 0);
        for (int k = 0; k < sizes[i]; k += 1 + sizes[i] / 10) {
            snprintf(name, sizeof name, "many/name%d", (int)values[k]);
            CHECK_NEAR(value_in(file, name), values[k], 0);
        }
        psd_hdf5_names_fini(&names);
        psd_hdf5_close(file);
        psd_hdf5_plan_destroy(plan);
    }
}

static void a_name_stands_for_one_thing(void)
{
    struct psd_hdf5_plan *plan = new_plan();

    CHECK_OK(psd_hdf5_plan_integer(plan, "a/0", 1));
    CHECK_STATUS(PSD_EINVAL, psd_hdf5_plan_integer(plan, "a/0", 1));
    CHECK_STATUS(PSD_EINVAL, psd_hdf5_plan_integer(plan, "a", 1));
    CHECK_STATUS(PSD_EINVAL, psd_hdf5_plan_group(plan, "a/0/b"));
    CHECK_TEXT(
        "an HDF5 file cannot have two things of one name, and a group cannot have the name of "
        "a dataset: \"a/0/b\"",
        psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_hdf5_plan_integer(plan, "", 1));
    CHECK_STATUS(PSD_EINVAL, psd_hdf5_plan_floats(plan, "x", 33, NULL, NULL));
    psd_hdf5_plan_destroy(plan);
}

/* --- memory ------------------------------------------------------------------------------------- */

static psd_status make_one(void)
{
    struct psd_hdf5_plan *plan = NULL;
    struct psd_hdf5 *file = NULL;
    float value = 1;

    PSD_TRY(psd_hdf5_plan_create(&plan));
    psd_status status = psd_hdf5_plan_floats(plan, "a/b", 0, NULL, &value);
    if (status == PSD_OK)
        status = psd_hdf5_plan_integer(plan, "iter", 1);
    if (status == PSD_OK)
        status = write_plan(plan, test_path("one.h5"), &file);
    psd_hdf5_close(file);
    psd_hdf5_plan_destroy(plan);
    return status;
}

static void writing_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = make_one();
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
}

int main(int argc, char **argv)
{
    RUN(a_model_is_read_as_it_was_written)
    RUN(groups_of_any_size_are_found_again)
    RUN(a_name_stands_for_one_thing)
    RUN(writing_survives_every_failed_allocation)
}
