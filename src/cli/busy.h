/* busy.h - what the processors have done so far: differences of two readings are used. */
#ifndef PSD_CLI_BUSY_H
#define PSD_CLI_BUSY_H

struct psd_busy {
    double
        machine_s; /* of all processes, and of the kernel for nobody's sake, as networks need it */
    double own_s;  /* of this process */
};

/* Reads both; what the system does not tell is 0. */
struct psd_busy psd_busy_read(void);

/* The seconds of a line such as "cpu 10 0 3 90 1 0 2 0" of /proc/stat, at `ticks` a second, without
 * those in which nothing was to be done; 0 when it is no such line. */
double psd_busy_parse(const char *line, long ticks);

#endif
