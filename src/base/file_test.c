/* file_test.c - what may stand under a name, and what becomes of it. */
#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

static void put(const char *path, const char *text)
{
    struct psd_file_writer *writer = NULL;

    CHECK_OK(psd_file_create(path, &writer));
    psd_file_write(writer, text, strlen(text));
    CHECK_OK(psd_file_commit(writer));
}

static bool holds(const char *path, const char *text)
{
    struct psd_file file;

    CHECK_OK(psd_file_open(path, &file));
    bool same =
        file.size == strlen(text) && (file.size == 0 || memcmp(file.data, text, file.size) == 0);
    psd_file_close(&file);
    return same;
}

static int names_in_folder(void)
{
    char command[300];
    int count = 0;

    snprintf(command, sizeof command, "ls -A %s | wc -l", test_folder());
    FILE *pipe = popen(command, "r");
    CHECK(pipe && fscanf(pipe, "%d", &count) == 1);
    pclose(pipe);
    return count;
}

static void what_is_written_is_read(void)
{
    const char *path = test_path("a");

    put(path, "first");
    CHECK(holds(path, "first"));
    put(path, "");
    CHECK(holds(path, ""));
}

/* Of a mapped file the end would be gone, and looking at it the end of the program. */
static void a_large_file_stays_as_it_was_read_when_it_shrinks(void)
{
    const char *path = test_path("large");
    struct psd_file_writer *writer = NULL;
    struct psd_file file;
    static char piece[1000000];

    CHECK_OK(psd_file_create(path, &writer));
    for (int i = 0; i < 20; i++) {
        memset(piece, 'a' + i, sizeof piece);
        psd_file_write(writer, piece, sizeof piece);
        psd_file_write(writer, "|", 1);
    }
    CHECK_OK(psd_file_commit(writer));
    CHECK_OK(psd_file_open(path, &file));
    CHECK(truncate(path, 1) == 0);
    CHECK(file.size == 20 * (sizeof piece + 1));
    CHECK(file.data[5 * (sizeof piece + 1)] == 'f' && file.data[file.size - 1] == '|');
    psd_file_close(&file);
}

static void what_cannot_be_read_is_said_in_a_sentence(void)
{
    struct psd_file file;

    CHECK_STATUS(PSD_ECONFIG, psd_file_open("/nonexistent/x", &file));
    CHECK_TEXT("cannot open /nonexistent/x: No such file or directory", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_file_open("/tmp", &file));
    CHECK_TEXT("/tmp is a directory, not a file", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_file_open("/dev/zero", &file));
    CHECK(strstr(psd_error(), "no end within 256 MiB"));
}

static void an_abandoned_file_leaves_the_old_one(void)
{
    const char *path = test_path("b");
    struct psd_file_writer *writer = NULL;

    put(path, "old");
    CHECK_OK(psd_file_create(path, &writer));
    psd_file_write(writer, "new", 3);
    CHECK(holds(path, "old"));
    psd_file_abandon(writer);
    CHECK(holds(path, "old"));
    CHECK(names_in_folder() == 1);
}

static void a_full_disk_leaves_the_old_file(void)
{
    struct psd_file_writer *writer = NULL;

    CHECK_OK(psd_file_create("/dev/full", &writer));
    psd_file_write(writer, "x", 1);
    CHECK_STATUS(PSD_ECONFIG, psd_file_commit(writer));
    CHECK_TEXT("cannot write /dev/full: No space left on device", psd_error());
}

static void a_link_and_the_mode_survive_rewriting(void)
{
    char target[400];
    struct stat about;

    snprintf(target, sizeof target, "%s", test_path("target"));
    put(target, "old");
    CHECK(chmod(target, 0640) == 0);
    CHECK(symlink(target, test_path("link")) == 0);
    put(test_path("link"), "new");
    CHECK(holds(target, "new"));
    CHECK(lstat(test_path("link"), &about) == 0 && S_ISLNK(about.st_mode));
    CHECK(stat(target, &about) == 0 && (about.st_mode & 0777) == 0640);
}

static void places_that_cannot_be_written_are_refused_at_once(void)
{
    struct psd_file_writer *writer = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_file_create("/nonexistent/x", &writer));
    CHECK_STATUS(PSD_ECONFIG, psd_file_create("/tmp", &writer));
    CHECK_TEXT("cannot write /tmp: it is a directory", psd_error());
    CHECK(!writer);
}

static void streams_have_no_length(void)
{
    int fd = 7;
    uint64_t size = 7;

    CHECK_OK(psd_file_descriptor("/dev/null", &fd, &size));
    CHECK(fd >= 0 && size == PSD_FILE_STREAM);
    close(fd);
    put(test_path("c"), "four");
    CHECK_OK(psd_file_descriptor(test_path("c"), &fd, &size));
    CHECK(fd >= 0 && size == 4);
    close(fd);
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    put(test_path("d"), "text");
    for (long n = 0; failed; n++) {
        struct psd_file_writer *writer = NULL;
        struct psd_file file = {0};
        psd_alloc_fail_at(n);
        psd_status wrote = psd_file_create(test_path("d"), &writer);
        psd_status read = psd_file_open(test_path("d"), &file);
        failed = psd_alloc_fail_at(-1);
        CHECK(failed == (wrote == PSD_ENOMEM || read == PSD_ENOMEM));
        psd_file_abandon(writer);
        psd_file_close(&file);
    }
    CHECK(holds(test_path("d"), "text"));
}

int main(int argc, char **argv)
{
    RUN(what_is_written_is_read)
    RUN(a_large_file_stays_as_it_was_read_when_it_shrinks)
    RUN(what_cannot_be_read_is_said_in_a_sentence)
    RUN(an_abandoned_file_leaves_the_old_one)
    RUN(a_full_disk_leaves_the_old_file)
    RUN(a_link_and_the_mode_survive_rewriting)
    RUN(places_that_cannot_be_written_are_refused_at_once)
    RUN(streams_have_no_length)
    RUN(every_failed_allocation_is_survived)
}
