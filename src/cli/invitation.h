/* invitation.h - a process is invited to a job: what it has to know to take its seat.
 *
 *     a copy of the launcher     psd_invitation_create
 *     a program it executes      psd_invitation_export --> environment --> psd_invitation_read
 *
 *     POSEIDON_COORDINATOR=tcp://127.0.0.1:7070      where rank 0 is found
 *     POSEIDON_RANK=2                                this process
 *     POSEIDON_RANKS=4                               of so many
 *     POSEIDON_JOB=1709214487315712077               the job's number
 *     POSEIDON_KEY=fd:5                              where its key is to be had (key.h)
 *     POSEIDON_ADDRESS=tcp://127.0.0.1:7070-8093     where this process may listen; may be missing
 *
 * RANK, LOCAL_RANK and WORLD_SIZE say to frameworks what they expect there. Constant once created: any
 * thread. */
#ifndef PSD_CLI_INVITATION_H
#define PSD_CLI_INVITATION_H

#include "base/secret.h"
#include "base/status.h"

#include <stdint.h>

struct psd_invitation {
    char *coordinator; /* owned */
    char *address; /* owned; NULL: not said, as for rank 0, which listens at the coordinator's */
    unsigned rank, ranks;
    uint64_t job;
    struct psd_secret *key; /* owned */
};

/* All of `from` but its key, copied, with the key behind `key_fd`. The caller owns *out. */
psd_status psd_invitation_create(const struct psd_invitation *from, int key_fd,
                                 struct psd_invitation **out);
void psd_invitation_destroy(struct psd_invitation *invitation);

/* The invitation that the environment says; NULL, and PSD_OK, where it says nothing: this process is alone.
 * PSD_ECONFIG: a variable is missing or wrong. */
psd_status psd_invitation_read(char *const *environment, struct psd_invitation **out);

/* The environment with the variables, for a program that inherits `key_fd`. The caller frees *out; what
 * was there before is borrowed by it. Its own key is not looked at. */
psd_status psd_invitation_export(const struct psd_invitation *invitation, int key_fd,
                                 char *const *environment, char ***out);

#endif
