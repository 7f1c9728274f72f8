/* file_set_test.c - files of a set get their names together; after a failure the old ones have them. */
#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { FILES = 3 };

static const char *const names[FILES] = {"a.model", "b.state", "c.last"};

/* Opens writers for all files of the set, with `text` in each and `more` of it in the last. */
static psd_status open_set(const char *text, size_t more, struct psd_file_writer **writers)
{
    for (size_t i = 0; i < FILES; i++) {
        PSD_TRY(psd_file_create(test_path(names[i]), &writers[i]));
        for (size_t k = 0; k < 1 + (i == FILES - 1 ? more : 0); k++)
            psd_file_write(writers[i], text, strlen(text));
    }
    return PSD_OK;
}

static psd_status write_set(const char *text, size_t more)
{
    struct psd_file_writer *writers[FILES] = {NULL};
    psd_status status = open_set(text, more, writers);

    if (status == PSD_OK)
        return psd_file_commit_all(writers, FILES);
    for (size_t i = 0; i < FILES; i++)
        psd_file_abandon(writers[i]);
    return status;
}

static void check_file(size_t i, const char *text)
{
    struct psd_file file = {0};

    CHECK_OK(psd_file_open(test_path(names[i]), &file));
    CHECK(file.size == strlen(text) && memcmp(file.data, text, file.size) == 0);
    psd_file_close(&file);
}

/* All files have this text, and nothing else is there. */
static void check_set(const char *text)
{
    DIR *folder = opendir(test_folder());
    size_t count = 0;

    for (size_t i = 0; i < FILES; i++)
        check_file(i, text);
    CHECK(folder);
    while (readdir(folder)) /* NOLINT(concurrency-mt-unsafe): one thread */
        count++;
    closedir(folder);
    CHECK(count == 2 + FILES);
}

static void a_set_replaces_the_one_before(void)
{
    CHECK_OK(psd_file_commit_all(NULL, 0));
    CHECK_OK(write_set("first", 0));
    check_set("first");
    CHECK_OK(write_set("second", 0));
    check_set("second");
}

/* What is in the way is not there yet when the file is begun, and a file cannot replace it. */
static void a_name_that_cannot_be_had_leaves_the_old_set(void)
{
    for (size_t i = 0; i < FILES; i++) {
        struct psd_file_writer *writers[FILES] = {NULL};
        char path[400], kept[400];
        CHECK_OK(write_set("old", 0));
        CHECK_OK(open_set("new", 0, writers));
        snprintf(path, sizeof path, "%s", test_path(names[i]));
        snprintf(kept, sizeof kept, "%s", test_path("kept"));
        CHECK(rename(path, kept) == 0 && mkdir(path, 0700) == 0);
        CHECK_STATUS(PSD_ECONFIG, psd_file_commit_all(writers, FILES));
        CHECK(strstr(psd_error(), path) && !strstr(psd_error(), "old-"));
        CHECK(rmdir(path) == 0 && rename(kept, path) == 0);
        check_set("old");
    }
}

/* Where there was none there is none again. */
static void a_set_that_fails_leaves_nothing_new(void)
{
    struct psd_file_writer *writers[FILES] = {NULL};

    CHECK_OK(open_set("new", 0, writers));
    CHECK(mkdir(test_path(names[2]), 0700) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_file_commit_all(writers, FILES));
    CHECK(rmdir(test_path(names[2])) == 0);
    CHECK(rmdir(test_folder()) == 0 && mkdir(test_folder(), 0700) == 0); /* it is empty */
}

/* The last file is larger than fits, which shows when all others are whole: nothing has been named. */
static void a_full_disk_leaves_the_old_set(void)
{
    struct rlimit limit = {1000, 1000};

    signal(SIGXFSZ, SIG_IGN);
    CHECK_OK(write_set("old", 0));
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_STATUS(PSD_ECONFIG, write_set("new", 1000));
    CHECK(strstr(psd_error(), "c.last: File too large"));
    check_set("old");
}

/* A link's target is replaced, and comes back. */
static void links_stay_links(void)
{
    struct psd_file_writer *writers[FILES] = {NULL};
    struct stat about;
    char target[400], link[400];

    CHECK_OK(write_set("old", 0));
    snprintf(target, sizeof target, "%s", test_path("elsewhere"));
    snprintf(link, sizeof link, "%s", test_path(names[0]));
    CHECK(rename(link, target) == 0 && symlink(target, link) == 0);
    CHECK_OK(write_set("new", 0));
    CHECK_OK(open_set("newer", 0, writers));
    CHECK(unlink(test_path(names[2])) == 0 && mkdir(test_path(names[2]), 0700) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_file_commit_all(writers, FILES));
    CHECK(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    check_file(0, "new");
    check_file(1, "new");
}

static void a_set_survives_every_failed_allocation(void)
{
    bool failed = true;
    int refused = 0;

    for (long n = 0; failed; n++) {
        CHECK_OK(write_set("old", 0));
        psd_alloc_fail_at(n);
        psd_status status = write_set("new", 0);
        failed = psd_alloc_fail_at(-1);
        CHECK(status == PSD_OK || (failed && status == PSD_ENOMEM));
        check_set(status == PSD_OK ? "new" : "old");
        refused += status != PSD_OK;
    }
    CHECK(refused > 3 * FILES);
}

int main(int argc, char **argv)
{
    RUN(a_set_replaces_the_one_before)
    RUN(a_name_that_cannot_be_had_leaves_the_old_set)
    RUN(a_set_that_fails_leaves_nothing_new)
    RUN(a_full_disk_leaves_the_old_set)
    RUN(links_stay_links)
    RUN(a_set_survives_every_failed_allocation)
}
