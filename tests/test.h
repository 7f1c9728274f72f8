/* test.h - the whole test framework.
 *
 *     static void a_sentence_about_the_unit(void) { CHECK(1 + 1 == 2); }
 *     int main(int argc, char **argv) { RUN(a_sentence_about_the_unit) }
 *
 * Each test runs in a process of its own, so that one that crashes, hangs or leaks is one failed
 * test. A test is reported as a line "ok NAME", "FAIL NAME" or "skip NAME: REASON", which
 * tools/run-tests counts. With arguments only the tests named there run, in this process, for the
 * debugger. */
#ifndef PSD_TESTS_TEST_H
#define PSD_TESTS_TEST_H

#include <ftw.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "poseidon/status.h"

/* A sanitizer watches: it keeps copies of what is freed, and has an allocator of its own. */
#ifdef __has_feature
#define TEST_HAS(feature) __has_feature(feature)
#else /* gcc before 14 */
#define TEST_HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    TEST_HAS(address_sanitizer) || TEST_HAS(thread_sanitizer)
#define TEST_IS_SANITIZED 1
#else
#define TEST_IS_SANITIZED 0
#endif

enum { TEST_SKIPPED = 77, TEST_SECONDS = 900 };

static bool test_failed;
static const char *test_name = "";

#ifndef TEST_STOP
#define TEST_STOP() _exit(1) /* a fuzz target aborts instead, so that the fuzzer sees it */
#endif

#define TEST_FAIL(...)                                                             \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), \
     fputc('\n', stderr), TEST_STOP())

#define CHECK(condition)                 \
    do {                                 \
        if (!(condition))                \
            TEST_FAIL("%s", #condition); \
    } while (0)

#define CHECK_STATUS(expected, call)                                                               \
    do {                                                                                           \
        psd_status got_ = (call), want_ = (expected);                                              \
        if (got_ != want_)                                                                         \
            TEST_FAIL("%s: %s, not %s (%s)", #call, psd_status_name(got_), psd_status_name(want_), \
                      psd_error());                                                                \
    } while (0)

#define CHECK_OK(call) CHECK_STATUS(PSD_OK, call)

#define CHECK_TEXT(expected, text)                                                     \
    do {                                                                               \
        const char *got_ = (text), *want_ = (expected);                                \
        if (!got_ || strcmp(got_, want_) != 0)                                         \
            TEST_FAIL("%s: \"%s\", not \"%s\"", #text, got_ ? got_ : "(null)", want_); \
    } while (0)

#define CHECK_NEAR(value, expected, tolerance)                     \
    do {                                                           \
        double got_ = (double)(value), want_ = (double)(expected); \
        if (!(fabs(got_ - want_) <= (double)(tolerance)))          \
            TEST_FAIL("%s: %.9g, not %.9g", #value, got_, want_);  \
    } while (0)

/* Ends the test as one that cannot run here, for the reason given. */
#define SKIP(...)                                                                        \
    (printf("skip %s: ", test_name), printf(__VA_ARGS__), putchar('\n'), fflush(stdout), \
     _exit(TEST_SKIPPED))

/* A folder of the test's own, made with the first call and removed when the test ends well. */
static inline const char *test_folder(void);

/* A path in that folder; good until the next call but three. */
static inline const char *test_path(const char *name);

#define RUN(test) test_run(#test, test, argc, argv);

static char test_folder_name[200];

static inline int test_remove_one(const char *path, const struct stat *info, int kind,
                                  struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static inline void test_remove_folder(void)
{
    nftw(test_folder_name, test_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *test_folder(void)
{
    const char *parent = getenv("TMPDIR");

    if (*test_folder_name)
        return test_folder_name;
    snprintf(test_folder_name, sizeof test_folder_name, "%s/poseidon-test.XXXXXX",
             parent ? parent : "/tmp");
    if (!mkdtemp(test_folder_name) || atexit(test_remove_folder))
        TEST_FAIL("no folder can be made in %s", parent ? parent : "/tmp");
    return test_folder_name;
}

static inline const char *test_path(const char *name)
{
    static char paths[4][400];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static inline void test_run(const char *name, void (*test)(void), int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            test();
    }
    if (argc > 1)
        return;

    test_name = name;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(TEST_SECONDS);
        test_failed = false;
        test();
        exit(0); /* NOLINT(concurrency-mt-unsafe): no other thread is left by now */
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        status = 1;
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: ended by signal %d\n", name, WTERMSIG(status));
    bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIPPED;
    if (!skipped)
        printf("%s %s\n", status == 0 ? "ok" : "FAIL", name);
    test_failed |= status != 0 && !skipped;
}

/* Lets main end without a return statement and the program still fail. */
__attribute__((destructor)) static void test_end(void)
{
    if (test_failed) {
        fflush(NULL);
        _exit(1);
    }
}

#endif
