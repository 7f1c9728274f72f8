/* key_test.c - keys that are made, inherited, read again, and refused. */
#include "base/alloc.h"
#include "cli/key.h"
#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

static void a_key_is_random_and_cannot_be_changed(void)
{
    struct psd_secret *first = NULL, *second = NULL;
    int fds[2];

    CHECK_OK(psd_key_make(&fds[0]));
    CHECK_OK(psd_key_make(&fds[1]));
    CHECK_OK(psd_key_read(fds[0], "first", &first));
    CHECK_OK(psd_key_read(fds[1], "second", &second));
    CHECK(psd_secret_size(first) == PSD_KEY_SIZE && psd_secret_size(second) == PSD_KEY_SIZE);
    CHECK(memcmp(psd_secret_data(first), psd_secret_data(second), PSD_KEY_SIZE) != 0);
    CHECK(pwrite(fds[0], "x", 1, 0) < 0 && ftruncate(fds[0], 0) < 0);
    psd_secret_destroy(first);
    psd_secret_destroy(second);
}

static bool is_same(const char *text, const struct psd_secret *key)
{
    struct psd_secret *again = NULL;

    CHECK_OK(psd_key_find(text, &again));
    bool same = memcmp(psd_secret_data(key), psd_secret_data(again), PSD_KEY_SIZE) == 0;
    psd_secret_destroy(again);
    return same;
}

/* Programs that read as from any file have a position of their own each. */
static void a_lent_key_is_read_again_and_again(void)
{
    struct psd_secret *key = NULL;
    char text[32], bytes[PSD_KEY_SIZE];
    int fd = -1, lent[2] = {-1, -1};

    CHECK_OK(psd_key_make(&fd));
    CHECK_OK(psd_key_read(fd, "it", &key));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(psd_key_lend(fd, &lent[i]));
        CHECK(lent[i] >= 3 && fcntl(lent[i], F_GETFD) == 0); /* inherited by what is executed */
        CHECK(read(lent[i], bytes, sizeof bytes) == PSD_KEY_SIZE);
        CHECK(memcmp(bytes, psd_secret_data(key), PSD_KEY_SIZE) == 0);
    }
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    snprintf(text, sizeof text, "fd:%d", lent[1]);
    CHECK(is_same(text, key) && is_same(text, key));
    psd_secret_destroy(key);
}

static void a_pipe_and_a_file_of_ones_own_do_as_well(void)
{
    static const char bytes[PSD_KEY_SIZE + 1] = "0123456789abcdef0123456789abcdef";
    struct psd_secret *key = NULL;
    char text[PATH_MAX + 8];
    int ends[2];

    CHECK(pipe(ends) == 0 && write(ends[1], bytes, PSD_KEY_SIZE) == PSD_KEY_SIZE);
    close(ends[1]);
    CHECK_OK(psd_key_read(ends[0], "a pipe", &key));
    CHECK(memcmp(psd_secret_data(key), bytes, PSD_KEY_SIZE) == 0);
    const char *path = scratch_file("key", bytes, PSD_KEY_SIZE);
    CHECK(chmod(path, 0600) == 0);
    snprintf(text, sizeof text, "file:%s", path);
    CHECK(is_same(text, key));
    psd_secret_destroy(key);
}

static void whatever_is_no_key_is_refused_with_a_sentence(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"file:/nowhere/key", "open the key file /nowhere/key: No such file or directory"},
        {"file:/", "the key file / is no regular file"},
        {"file:", "open the key file : No such file or directory"},
        {"fd:", "no descriptor follows"},
        {"fd:x", "no descriptor follows"},
        {"fd:-1", "no descriptor follows"},
        {"fd:3x", "no descriptor follows"},
        {"fd:99999999999999999999", "no descriptor follows"},
        {"fd:1000000", "POSEIDON_KEY names descriptor 1000000, which is not open"},
        {"", "POSEIDON_KEY is written fd:NUMBER or file:PATH"},
        {"0123456789abcdef0123456789abcdef", "and is never the key itself"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_secret *key = NULL;
        fprintf(stderr, "    %s\n", cases[i].text);
        CHECK_STATUS(PSD_ECONFIG, psd_key_find(cases[i].text, &key));
        CHECK(!key && strstr(psd_error(), cases[i].sentence));
        CHECK(!strstr(psd_error(), "0123456789abcdef")); /* it might be the key */
    }
}

static void files_that_hold_no_secret_or_no_key_are_refused(void)
{
    static const struct {
        const char *bytes;
        mode_t mode;
        const char *sentence;
    } cases[] = {
        {"0123456789abcdef0123456789abcdef", 0640, "is open to others (its mode is 640)"},
        {"0123456789abcdef0123456789abcdef", 0604, "is open to others (its mode is 604)"},
        {"0123456789abcdef0123456789abcdef\n", 0600, " has at least 33 bytes; a key has 32"},
        {"short", 0600, " has 5 bytes; a key has 32"},
        {"", 0600, " has 0 bytes; a key has 32"},
    };
    char text[PATH_MAX + 8];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_secret *key = NULL;
        const char *path = scratch_file("key", cases[i].bytes, strlen(cases[i].bytes));
        CHECK(chmod(path, cases[i].mode) == 0);
        snprintf(text, sizeof text, "file:%s", path);
        fprintf(stderr, "    %s\n", cases[i].sentence);
        CHECK_STATUS(PSD_ECONFIG, psd_key_find(text, &key));
        CHECK(!key && strstr(psd_error(), cases[i].sentence));
    }
}

static void reading_survives_every_failed_allocation(void)
{
    bool failed = true;
    int fd = -1;

    CHECK_OK(psd_key_make(&fd));
    for (long n = 0; failed; n++) {
        struct psd_secret *key = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_key_read(fd, "it", &key);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (key == NULL));
        psd_secret_destroy(key);
    }
}

int main(int argc, char **argv)
{
    RUN(a_key_is_random_and_cannot_be_changed)
    RUN(a_lent_key_is_read_again_and_again)
    RUN(a_pipe_and_a_file_of_ones_own_do_as_well)
    RUN(whatever_is_no_key_is_refused_with_a_sentence)
    RUN(files_that_hold_no_secret_or_no_key_are_refused)
    RUN(reading_survives_every_failed_allocation)
}
