/* busy.c - /proc/stat and getrusage. */
#include "cli/busy.h"
#include "base/clock.h"

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
    struct psd_busy busy = {.elapsed_s = (double)psd_clock_now() / (double)PSD_CLOCK_S,
                            .machine_s = read_machine()};
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) == 0)
        busy.own_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    return busy;
}

void psd_busy_add_since(struct psd_busy *sum, const struct psd_busy *before)
{
    struct psd_busy now = psd_busy_read();

    sum->elapsed_s += now.elapsed_s - before->elapsed_s;
    sum->machine_s += now.machine_s - before->machine_s;
    sum->own_s += now.own_s - before->own_s;
}

void psd_busy_join(struct psd_busy *all, const struct psd_busy *one)
{
    if (!(all->elapsed_s > 0)) {
        *all = *one;
        return;
    }
    all->own_s += one->own_s;
}

double psd_busy_cores(const struct psd_busy *busy)
{
    return busy->elapsed_s > 0 ? busy->machine_s / busy->elapsed_s : 0;
}

bool psd_busy_is_limit(const struct psd_busy *busy, unsigned processors)
{
    return psd_busy_cores(busy) > PSD_BUSY_LIMIT * processors;
}
