/* run.h - whole-system tests: run the real program and look at what it says.
 *
 *     run_start();                                     once in each test
 *     CHECK(run("$POSEIDON config log.level") == 0);   a line for sh; its exit code
 *     CHECK_TEXT("info\n", run_out);                   what it printed; run_err: what it complained
 *
 * A test works in an empty folder of its own, which is also its HOME; no setting of the person who
 * runs the test is seen. The folder goes away when the test ends well. */
#ifndef PSD_TESTS_RUN_H
#define PSD_TESTS_RUN_H

#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/mman.h>

static char run_out[1 << 20], run_err[1 << 20]; /* of the latest run; what is longer is cut */

/* The environment of what is run: that of the test, without settings, and two variables more. */
static char *run_environment[1000], run_home[PATH_MAX], run_program[PATH_MAX];

/* Makes the program known as $POSEIDON: the one named by that variable, else that of the build. */
static inline void run_find_program(void)
{
    const char *named = getenv("POSEIDON"), *build = getenv("BUILD");
    char path[PATH_MAX], absolute[PATH_MAX];

    if (*run_program)
        return; /* found before the test went into its folder */
    snprintf(path, sizeof path, "%s%s",
             named   ? named
             : build ? build
                     : ".",
             named ? "" : "/poseidon");
    if (!realpath(path, absolute))
        TEST_FAIL("there is no %s; set BUILD or POSEIDON", path);
    CHECK((size_t)snprintf(run_program, sizeof run_program, "POSEIDON=%s", absolute) <
          sizeof run_program);
}

static inline void run_choose_environment(void)
{
    static const char *const without[] = {"PSD_", "XDG_CONFIG_HOME=", "HOME=", "POSEIDON="};
    size_t count = 0;

    for (char **variable = environ; *variable && count < 900; variable++) {
        bool wanted = true;
        for (size_t i = 0; i < sizeof without / sizeof *without; i++)
            wanted &= strncmp(*variable, without[i], strlen(without[i])) != 0;
        if (wanted)
            run_environment[count++] = *variable;
    }
    run_environment[count++] = run_home;
    run_environment[count] = run_program;
}

static inline void run_start(void)
{
    run_find_program();
    CHECK(chdir(test_folder()) == 0);
    snprintf(run_home, sizeof run_home, "HOME=%s", test_folder());
    run_choose_environment();
}

static inline void run_read(int file, char *text, size_t size)
{
    ssize_t length = pread(file, text, size - 1, 0);

    CHECK(length >= 0);
    text[length] = 0;
    close(file);
}

/* A file in memory. Of such a file the kernel does not guard the position that processes share, so that of
 * two who write at once one would write over the other's: all append instead. */
static inline int run_open(const char *name)
{
    int file = memfd_create(name, 0);

    CHECK(file >= 0 && fcntl(file, F_SETFL, O_APPEND) == 0);
    return file;
}

/* Runs a line for sh in the test's folder and returns its exit code, 128 + n after signal n. */
__attribute__((format(printf, 1, 2))) static inline int run(const char *format, ...)
{
    char line[4096];
    int status = 0;
    int out = run_open("out"), err = run_open("err");
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pid_t child = fork();
    if (child == 0) {
        dup2(out, 1);
        dup2(err, 2);
        execle("/bin/sh", "sh", "-c", line, (char *)NULL, run_environment);
        _exit(127);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    run_read(out, run_out, sizeof run_out);
    run_read(err, run_err, sizeof run_err);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Writes a file in the test's folder. */
static inline void run_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file);
    fputs(text, file);
    CHECK(fclose(file) == 0);
}

/* Snapshots of solver.prototxt go to the folder "small", where a small file system can be mounted; the test
 * is skipped where that cannot be done. */
static inline void run_save_to_small(void)
{
    if (run("unshare -m mount -t tmpfs -o size=100k none /mnt") != 0)
        SKIP("mounting a small file system takes root: %s", run_err);
    CHECK(run("mkdir small && sed -i 's/prefix: \"s\"/prefix: \"small\\/s\"/' solver.prototxt") ==
          0);
}

#endif
