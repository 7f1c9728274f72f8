/* cause.h - why a job has failed, of all that its members end with.
 *
 *     rank 1 ends with code 3, rank 2 with code 1      rank 1: it was the first
 *     rank 1 ends with code 1, rank 2 is killed        rank 2: others complain of its loss
 *     rank 1 ends with code 75, rank 2 with code 1     rank 2: the other did what it was asked for
 *     the same, and rank 2 has lost rank 1             rank 1: all do what they were asked for
 *
 * Whoever closes its sockets is missed by others before the system tells that it has ended, so who is
 * killed comes before who has ended earlier by itself. */
#ifndef PSD_CLI_CAUSE_H
#define PSD_CLI_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

/* What an end says about others; more comes before less, in whatever order they are heard. */
enum psd_cause_weight {
    PSD_CAUSE_NONE,
    PSD_CAUSE_LOSS, /* it was asked to end, and misses one that may only have done so before it */
    PSD_CAUSE_ASKED,
    PSD_CAUSE_FAILED,
    PSD_CAUSE_KILLED
};

struct psd_cause {
    enum psd_cause_weight weight;
    unsigned rank;
    int exit_code; /* 0 as long as there is none */
};

/* Hears that `rank` has ended with a wait status. `is_asked`: a signal has asked it to, so exit code 75
 * (cli.h) is no failure; nor, if there is such a one, is that of who has lost another. Whether it is the
 * cause now. */
bool psd_cause_hear(struct psd_cause *cause, unsigned rank, int state, bool is_asked,
                    bool has_lost);

/* The exit code that a shell would see. */
int psd_cause_exit_code(int state);

/* Writes how `rank` has ended, such as "rank 2 was killed by signal 9 (Killed)", and returns `out`. */
const char *psd_cause_say(unsigned rank, int state, char *out, size_t size);

#endif
