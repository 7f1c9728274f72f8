/* command.h - starts what a benchmark measures. */
#ifndef PSD_BENCH_COMMAND_H
#define PSD_BENCH_COMMAND_H

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <unistd.h>

/* Starts a command of the shell, which gives way to it; what it writes to the descriptor `from` can be read
 * from the file. NULL: it does not start. */
static inline FILE *command_start(char *command, int from, pid_t *pid)
{
    extern char **environ;
    char shell[] = "/bin/sh", option[] = "-c";
    char *const argv[] = {shell, option, command, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], from);
    int error = posix_spawn(pid, shell, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return NULL;
    }
    return fdopen(ends[0], "r");
}

#endif
