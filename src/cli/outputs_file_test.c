/* outputs_file_test.c - tables of what a training shows, and how one that goes on continues them. */
#include "base/alloc.h"
#include "cli/outputs_file.h"
#include "test.h"

/* Without outputs: rows have iteration, time and loss. */
static const struct psd_net net;

static void add(struct psd_outputs_file *file, int test, int64_t iteration)
{
    psd_outputs_file_add(
        file, &(struct psd_solver_row){
                  .net = &net, .test = test, .iteration = iteration, .loss = (float)iteration / 4});
}

/* A run that shows, and tests, every second iteration from `from` to `to`. */
static void train(bool goes_on, int64_t from, int64_t to)
{
    struct psd_outputs_file *file = NULL;

    CHECK_OK(psd_outputs_file_open(test_path("x"), goes_on, NULL, &file));
    CHECK_OK(psd_outputs_file_go_on(file, from));
    for (int64_t i = from + from % 2; i < to; i += 2) {
        add(file, -1, i);
        add(file, 0, i);
    }
    psd_outputs_file_close(file);
}

/* The table without its times, which are not the same twice. */
static const char *table(const char *name)
{
    static char all[2000];
    char line[200], iteration[50], loss[50];
    FILE *file = fopen(test_path(name), "re");

    CHECK(file);
    *all = '\0';
    while (fgets(line, sizeof line, file)) {
        CHECK(sscanf(line, "%49[^,],%*[^,],%49s", iteration, loss) == 2);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s %s\n", iteration, loss);
    }
    fclose(file);
    return all;
}

static void check_both(const char *expected)
{
    CHECK_TEXT(expected, table("x.netoutputs"));
    CHECK_TEXT(expected, table("x.test0.netoutputs"));
}

static void a_run_writes_names_and_rows(void)
{
    train(false, 0, 5);
    check_both("Iteration loss\n0 0\n2 0.5\n4 1\n");
    train(false, 0, 1);
    check_both("Iteration loss\n0 0\n");
}

static void who_goes_on_replaces_what_it_shows_again(void)
{
    train(false, 0, 9);
    train(true, 4, 11);
    check_both("Iteration loss\n0 0\n2 0.5\n4 1\n6 1.5\n8 2\n10 2.5\n");
    train(true, 3, 5);
    check_both("Iteration loss\n0 0\n2 0.5\n4 1\n");
    train(true, 5, 7);
    check_both("Iteration loss\n0 0\n2 0.5\n4 1\n6 1.5\n");
    train(true, 0, 1);
    check_both("Iteration loss\n0 0\n");
}

static void who_goes_on_without_a_file_starts_one(void)
{
    train(true, 4, 7);
    check_both("Iteration loss\n4 1\n6 1.5\n");
}

/* As a killed process leaves it. */
static void half_a_row_goes(void)
{
    train(false, 0, 3);
    FILE *file = fopen(test_path("x.netoutputs"), "ae");
    CHECK(file && fputs("4,0.0", file) >= 0 && fclose(file) == 0);
    train(true, 50, 51);
    CHECK_TEXT("Iteration loss\n0 0\n2 0.5\n50 12.5\n", table("x.netoutputs"));
}

static void a_folder_that_is_not_there_is_told(void)
{
    struct psd_outputs_file *file = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_outputs_file_open(test_path("nowhere/x"), true, NULL, &file));
    CHECK(!file && strstr(psd_error(), "nowhere/x.netoutputs cannot be written: No such file"));
}

static void what_cannot_be_read_is_told(void)
{
    struct psd_outputs_file *file = NULL;

    CHECK(mkdir(test_path("x.netoutputs"), 0700) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_outputs_file_open(test_path("x"), true, NULL, &file));
    CHECK(!file && strstr(psd_error(), "x.netoutputs cannot be read: Is a directory"));
}

static void where_nothing_is_dropped_nothing_is_cut(void)
{
    struct psd_outputs_file *file = NULL;

    CHECK(symlink("/dev/null", test_path("x.netoutputs")) == 0); /* which has no length */
    CHECK_OK(psd_outputs_file_open(test_path("x"), true, NULL, &file));
    CHECK_OK(psd_outputs_file_go_on(file, 3));
    psd_outputs_file_close(file);
}

static void open_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_outputs_file *file = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_outputs_file_open(test_path("x"), true, NULL, &file);
        if (status == PSD_OK)
            status = psd_outputs_file_go_on(file, 3);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_outputs_file_close(file);
    }
}

int main(int argc, char **argv)
{
    RUN(a_run_writes_names_and_rows)
    RUN(who_goes_on_replaces_what_it_shows_again)
    RUN(who_goes_on_without_a_file_starts_one)
    RUN(half_a_row_goes)
    RUN(a_folder_that_is_not_there_is_told)
    RUN(what_cannot_be_read_is_told)
    RUN(where_nothing_is_dropped_nothing_is_cut)
    RUN(open_survives_every_failed_allocation)
}
