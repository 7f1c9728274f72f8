/* gone.h - whether a process that is not our child has ended.
 *
 *     gone_wait(id);      returns when it has; a test that waits too long is ended by its alarm
 *
 * Whoever has ended and is not yet waited for by its parent counts as gone. */
#ifndef PSD_TESTS_GONE_H
#define PSD_TESTS_GONE_H

#include "test.h"

static inline bool gone(pid_t id)
{
    char path[64], line[512] = "";

    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    FILE *file = fopen(path, "r");
    if (!file)
        return true;
    if (!fgets(line, sizeof line, file))
        *line = 0;
    fclose(file);
    const char *state = strrchr(line, ')'); /* behind the name, which may have anything in it */
    return !state || state[2] == 'Z' || state[2] == 'X';
}

static inline void gone_wait(pid_t id)
{
    while (!gone(id))
        usleep(1000);
}

#endif
