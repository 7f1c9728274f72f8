/* busy.h - what the processors do in some time.
 *
 *     struct psd_busy before = psd_busy_read(), sum = {0};
 *     ...
 *     psd_busy_add_since(&sum, &before);       also several times
 *     psd_busy_cores(&sum)                     so many processors were busy on the mean */
#ifndef PSD_CLI_BUSY_H
#define PSD_CLI_BUSY_H

#include <stdbool.h>

/* The share of a machine's processors above which they are what limits a measured job. */
#define PSD_BUSY_LIMIT 0.7

struct psd_busy {
    double elapsed_s; /* on the clock */
    double machine_s; /* of all processes, and of the kernel's network for nobody's sake */
    double own_s;     /* of this process */
};

/* Reads all three, since some moment in the past; what the system does not tell is 0. */
struct psd_busy psd_busy_read(void);

/* Adds what has been done since `before` was read. */
void psd_busy_add_since(struct psd_busy *sum, const struct psd_busy *before);

/* Takes in what another process of the same time has found: the machine's part stays that of the first. */
void psd_busy_join(struct psd_busy *all, const struct psd_busy *one);

/* Processors that are busy on the mean. */
double psd_busy_cores(const struct psd_busy *busy);

/* Whether they are more than that share of `processors`. */
bool psd_busy_is_limit(const struct psd_busy *busy, unsigned processors);

/* The seconds of a line such as "cpu 10 0 3 90 1 0 2 0" of /proc/stat, at `ticks` a second, without
 * those in which nothing was to be done; 0 when it is no such line. */
double psd_busy_parse(const char *line, long ticks);

#endif
