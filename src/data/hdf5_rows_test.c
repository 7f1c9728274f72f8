#include "base/alloc.h"
#include "data/hdf5_plan.h"
#include "data/hdf5_rows.h"
#include "hdf5_files.h"

#include <unistd.h>

static const char *const names[] = {"data", "label"};

/* Three files with rows 0 to 2, 3 to 7 and 8 to 9, and one without. */
static struct psd_hdf5_rows *open_three(bool shuffle, uint64_t seed)
{
    struct psd_hdf5_rows *rows = NULL;

    write_rows("one.h5", 0, 3);
    write_rows("two.h5", 3, 5);
    write_rows("none.h5", 3, 0);
    write_rows("three.h5", 8, 2);
    struct psd_hdf5_rows_options options = {
        .list = write_list("list.txt", " one.h5\ntwo.h5 none.h5\r\n\nthree.h5"),
        .names = names,
        .columns = 2,
        .shuffle = shuffle,
        .seed = seed,
        .stream = 5,
    };
    CHECK_OK(psd_hdf5_rows_open(&options, &rows));
    CHECK(psd_hdf5_rows_count(rows) == 10);
    return rows;
}

/* Which row number `index` is; its label fits. */
static int row_at(struct psd_hdf5_rows *rows, uint64_t index)
{
    float data[2], label;

    CHECK_OK(psd_hdf5_rows_read(rows, index, 1, (float *const[]){data, &label}));
    CHECK_NEAR(data[1], data[0] + .5f, 0);
    CHECK_NEAR(label, -data[0], 0);
    return (int)data[0];
}

static void rows_come_file_by_file_and_over_again(void)
{
    struct psd_hdf5_rows *rows = open_three(false, 1);
    float data[2 * 25], labels[25];

    for (uint64_t first = 0; first < 12; first++) {
        CHECK_OK(psd_hdf5_rows_read(rows, first, 25, (float *const[]){data, labels}));
        for (size_t i = 0; i < 25; i++) {
            CHECK_NEAR(data[2 * i], (first + i) % 10, 0);
            CHECK_NEAR(labels[i], -(double)((first + i) % 10), 0);
        }
    }
    CHECK(row_at(rows, UINT64_C(1000000000007)) == 7);
    psd_hdf5_rows_close(rows);
}

/* Files stay together, each time has every row once, and times differ. */
static void shuffled_rows_are_all_there_in_every_time(void)
{
    struct psd_hdf5_rows *rows = open_three(true, 7), *other = open_three(true, 8);
    unsigned same_as_first = 0, same_as_other = 0;
    int first[10];

    for (uint64_t time = 0; time < 20; time++) {
        unsigned seen = 0, equal = 0, other_equal = 0, changes = 0;
        int file = -1;
        for (uint64_t i = 0; i < 10; i++) {
            int row = row_at(rows, 10 * time + i), of = row < 3 ? 0 : row < 8 ? 1 : 2;
            first[i] = time ? first[i] : row;
            seen |= 1u << row;
            equal += first[i] == row;
            other_equal += row_at(other, 10 * time + i) == row;
            changes += of != file;
            file = of;
        }
        CHECK(seen == 1023 && changes == 3);
        same_as_first += equal == 10;
        same_as_other += other_equal == 10;
    }
    CHECK(same_as_first < 3 && same_as_other < 3);
    psd_hdf5_rows_close(other);
    psd_hdf5_rows_close(rows);
}

static void any_order_of_asking_gets_the_same_rows(void)
{
    struct psd_hdf5_rows *forth = open_three(true, 7), *back = open_three(true, 9);
    int rows[50];

    psd_hdf5_rows_reseed(back, 7);
    for (uint64_t i = 0; i < 50; i++)
        rows[i] = row_at(forth, i);
    for (uint64_t i = 50; i-- > 0;)
        CHECK(row_at(back, i) == rows[i]);
    psd_hdf5_rows_close(back);
    psd_hdf5_rows_close(forth);
}

/* Which row of tests/fixtures/hdf5/chunked.h5 these are: 15 values that rise by a half. */
static unsigned chunked_row(const float *all, const float *big)
{
    CHECK_NEAR(all[14], all[0] + 7, 0);
    CHECK_NEAR(big[14], all[14], 0);
    return (unsigned)((all[0] + 3) / 7.5f);
}

static void rows_of_chunks_come_in_order_and_shuffled(void)
{
    static const char *const chunked[] = {"all", "big"};
    char list[300], here[200];
    float all[30], big[30];

    CHECK(getcwd(here, sizeof here));
    snprintf(list, sizeof list, "%s/tests/fixtures/hdf5/chunked.h5", here);
    struct psd_hdf5_rows_options options = {
        .list = write_list("list.txt", list), .names = chunked, .columns = 2};
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        struct psd_hdf5_rows *rows = NULL;
        unsigned seen = 0, in_order = 0;
        options.shuffle = shuffle;
        CHECK_OK(psd_hdf5_rows_open(&options, &rows));
        for (unsigned i = 0; i < 10; i += 2) {
            CHECK_OK(psd_hdf5_rows_read(rows, i, 2, (float *const[]){all, big}));
            unsigned first = chunked_row(all, big), second = chunked_row(all + 15, big + 15);
            seen |= 1u << first | 1u << second;
            in_order += (unsigned)(first == i) + (unsigned)(second == i + 1);
        }
        CHECK(seen == 1023 && (in_order == 10) == !shuffle);
        psd_hdf5_rows_close(rows);
    }
}

/* --- what is refused ---------------------------------------------------------------------------- */

static void write_uneven(void)
{
    static const float values[4];
    struct psd_hdf5_plan *plan = NULL;
    uint64_t size = 0;

    CHECK_OK(psd_hdf5_plan_create(&plan));
    CHECK_OK(psd_hdf5_plan_floats(plan, "data", 1, (size_t[]){3}, values));
    CHECK_OK(psd_hdf5_plan_floats(plan, "label", 1, (size_t[]){4}, values));
    CHECK_OK(psd_hdf5_plan_lay_out(plan, &size));
    unsigned char *bytes = psd_alloc((size_t)size);
    CHECK(bytes);
    psd_hdf5_plan_write(plan, bytes);
    FILE *file = fopen(test_path("uneven.h5"), "wb");
    CHECK(file && fwrite(bytes, 1, (size_t)size, file) == size && fclose(file) == 0);
    psd_alloc_free(bytes);
    psd_hdf5_plan_destroy(plan);
}

static void lists_that_make_no_sense_are_refused(void)
{
    static const struct {
        const char *list, *names[2], *sentence;
    } cases[] = {
        {" \n", {"data", "label"}, "list.txt names no file"},
        {"nowhere.h5",
         {"data", "label"},
         "list.txt names nowhere.h5, but there is neither nowhere.h5 nor "},
        {"one.h5 list.txt", {"data", "label"}, "list.txt is no HDF5 file"},
        {"one.h5", {"data", "labels"}, "one.h5: there is no \"labels\" in it"},
        {"none.h5", {"data", "label"}, "none.h5 has no rows, nor has any other file of the list"},
        {"one.h5 wide.h5",
         {"data", "label"},
         "wide.h5: the rows of \"data\" have another shape than in "},
        {"uneven.h5", {"data", "label"}, "uneven.h5: \"label\" has 4 rows and \"data\" has 3"},
        {"one.h5 cut.h5", {"data", "label"}, "cut.h5 has 1000 bytes and should have "},
    };

    write_rows("one.h5", 0, 3);
    write_rows("none.h5", 0, 0);
    write_uneven();
    write_rows("cut.h5", 0, 100);
    CHECK(truncate(test_path("cut.h5"), 1000) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_hdf5_rows *rows = NULL;
        struct psd_hdf5_rows_options options = {
            .list = write_list("list.txt", cases[i].list), .names = cases[i].names, .columns = 2};
        struct psd_hdf5_column wide[] = {{"data", 2, {0, 3}}, {"label", 1, {0}}};
        struct psd_hdf5_stream *stream = NULL;
        CHECK_OK(psd_hdf5_stream_open(test_path("wide.h5"), wide, 2, &stream));
        CHECK_OK(psd_hdf5_stream_commit(stream));
        CHECK_STATUS(PSD_ECONFIG, psd_hdf5_rows_open(&options, &rows));
        if (!strstr(psd_error(), cases[i].sentence))
            TEST_FAIL("%s", psd_error());
    }
}

static psd_status open_and_read(const char *list)
{
    struct psd_hdf5_rows *rows = NULL;
    struct psd_hdf5_rows_options options = {
        .list = list, .names = names, .columns = 2, .shuffle = true};
    float data[2 * 25], labels[25];

    PSD_TRY(psd_hdf5_rows_open(&options, &rows));
    psd_status status = psd_hdf5_rows_read(rows, 3, 25, (float *const[]){data, labels});
    psd_hdf5_rows_close(rows);
    return status;
}

static void reading_survives_every_failed_allocation(void)
{
    bool failed = true;

    write_rows("one.h5", 0, 3);
    write_rows("two.h5", 3, 5);
    const char *list = write_list("list.txt", "one.h5 two.h5");
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = open_and_read(list);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
}

int main(int argc, char **argv)
{
    RUN(rows_come_file_by_file_and_over_again)
    RUN(shuffled_rows_are_all_there_in_every_time)
    RUN(any_order_of_asking_gets_the_same_rows)
    RUN(rows_of_chunks_come_in_order_and_shuffled)
    RUN(lists_that_make_no_sense_are_refused)
    RUN(reading_survives_every_failed_allocation)
}
