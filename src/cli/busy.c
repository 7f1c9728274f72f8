/* busy.c - /proc/stat and getrusage. */
#include "cli/busy.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

double psd_busy_parse(const char *line, long ticks)
{
    /* user, nice, system, idle, iowait, irq, softirq, steal */
    unsigned long long n[8] = {0};

    if (strncmp(line, "cpu ", 4) != 0 ||
        sscanf(line + 4, "%llu %llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3],
               &n[4], &n[5], &n[6], &n[7]) < 4)
        return 0;
    return (double)(n[0] + n[1] + n[2] + n[5] + n[6] + n[7]) / (double)ticks;
}

static double read_machine(void)
{
    char line[256] = "";
    FILE *file = fopen("/proc/stat", "re");

    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        *line = 0;
    fclose(file);
    return psd_busy_parse(line, sysconf(_SC_CLK_TCK));
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

struct psd_busy psd_busy_read(void)
{
    struct psd_busy busy = {.machine_s = read_machine()};
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) == 0)
        busy.own_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    return busy;
}
