/* path_test.c - which of two places a name means. */
#include "base/alloc.h"
#include "base/path.h"
#include "test.h"

#include <sys/stat.h>

/* A working directory with a folder `jobs`. */
static void make_folders(void)
{
    CHECK(chdir(test_folder()) == 0);
    CHECK(mkdir("jobs", 0777) == 0 && mkdir("jobs/nets", 0777) == 0);
}

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");

    CHECK(file);
    fclose(file);
}

static void check_found(const char *expected, const char *named, const char *in)
{
    char *found = NULL;

    CHECK_OK(psd_path_find(named, in, &found));
    CHECK_TEXT(expected, found);
    psd_alloc_free(found);
}

static void the_working_directory_comes_first(void)
{
    make_folders();
    make_file("net.prototxt");
    make_file("jobs/net.prototxt");
    check_found("net.prototxt", "net.prototxt", "jobs/solver.prototxt");
}

static void the_folder_of_the_file_comes_second(void)
{
    make_folders();
    make_file("jobs/nets/net.prototxt");
    check_found("jobs/nets/net.prototxt", "nets/net.prototxt", "jobs/solver.prototxt");
}

static void an_absolute_path_is_itself(void)
{
    check_found("/dev/null", "/dev/null", "jobs/solver.prototxt");
    check_found("/dev/null", "/dev/null", NULL);
}

static void what_is_nowhere_is_told_with_all_places(void)
{
    char *found = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_path_find("nets/x.prototxt", "jobs/s.prototxt", &found));
    CHECK_TEXT("jobs/s.prototxt names nets/x.prototxt, but there is neither nets/x.prototxt nor "
               "jobs/nets/x.prototxt",
               psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_path_find("x.prototxt", "s.prototxt", &found));
    CHECK_TEXT("s.prototxt names x.prototxt, but there is no such file", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_path_find("/no/x", NULL, &found));
    CHECK_TEXT("there is no file /no/x", psd_error());
    CHECK(!found);
}

static void a_failed_allocation_is_told(void)
{
    char *found = NULL;

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_path_find("/dev/null", NULL, &found));
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_path_find("null", "/dev/zero", &found));
    CHECK(psd_alloc_fail_at(-1) && !found);
}

int main(int argc, char **argv)
{
    RUN(the_working_directory_comes_first)
    RUN(the_folder_of_the_file_comes_second)
    RUN(an_absolute_path_is_itself)
    RUN(what_is_nowhere_is_told_with_all_places)
    RUN(a_failed_allocation_is_told)
}
