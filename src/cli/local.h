/* local.h - a job whose processes are all on this machine: "poseidon run -n", "poseidon train -n".
 *
 *     a number, a key (key.h), a port for rank 0 (port.h), shares of the processors (cores.h)
 *       |
 *     members (launch.h), each with an invitation (invitation.h)
 *       |
 *     exit code, sentences on standard error
 *
 * The link between members is the machine itself: nothing is probed, and nothing outside is reached. */
#ifndef PSD_CLI_LOCAL_H
#define PSD_CLI_LOCAL_H

#include "cli/cli.h"
#include "cli/invitation.h"
#include "cli/launch.h"

enum psd_local_bind { PSD_LOCAL_AUTO, PSD_LOCAL_ON, PSD_LOCAL_OFF };

/* What people choose. */
struct psd_local_options {
    int64_t count; /* of processes; 0: not said */
    enum psd_local_bind bind;
    uint64_t grace_ns;
};

extern const char *const psd_local_binds[];

/* Rows of a table of options; the structure has a field `local` of the above. */
#define PSD_LOCAL_OPTIONS(type)                                                          \
    {"n", "N", NULL, "starts N processes on this machine",                               \
     PSD_INT(type, local.count, 1, PSD_LAUNCH_MOST)},                                    \
        {"bind", NULL, "auto",                                                           \
         "whether each process has processors of its own; auto: where there are enough", \
         PSD_CHOICE(type, local.bind, psd_local_binds)},                                 \
    {                                                                                    \
        "grace", "TIME", "6s",                                                           \
            "when one process has failed, others have so long to end by themselves",     \
            PSD_TIME(type, local.grace_ns)                                               \
    }

struct psd_local_job {
    const struct psd_local_options *options; /* borrowed, as is arg */

    /* The life of a process, in it; see launch.h. The key is behind key_fd, too, for programs that are
     * executed. */
    psd_status (*live)(void *arg, const struct psd_invitation *invitation, int key_fd,
                       int *exit_code);
    void *arg;
    bool over_status, passes_every_int; /* as in launch.h */
    psd_status
        *cause; /* filled: what the first has failed with, as in launch.h; NULL: nobody asks */
};

/* Runs the job. Its exit code becomes that of the program; what went wrong in a member has been shown. A
 * failure, or misuse, is that of starting. */
psd_status psd_local_run(struct psd_cli *cli, const struct psd_local_job *job);

#endif
