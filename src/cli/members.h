/* members.h - processes of this program that work together, each in a place of its own.
 *
 *     us            members
 *     map memory
 *     start ------> 0: enter, run     1: enter, run    ...
 *     watch ...         |                 |                what they find goes into the memory
 *     all are back <----'-----------------'
 *
 * A member is a copy of this process as it is (launch.h), so what it needs, the job's key too, is there
 * without being written anywhere; what it finds is put into memory that all see (common.h). */
#ifndef PSD_CLI_MEMBERS_H
#define PSD_CLI_MEMBERS_H

#include "base/status.h"

enum { PSD_MEMBERS_MOST = 64 };

struct psd_members_options {
    unsigned count; /* 1 to PSD_MEMBERS_MOST */

    /* Puts a member into its place, before it runs; NULL: where we are. `place` is its argument. */
    psd_status (*enter)(const void *place, unsigned rank);
    const void *place; /* borrowed for the call, as is arg */

    psd_status (*run)(void *arg, unsigned rank); /* in the member */
    psd_status (*watch)(void *arg); /* with us, every few milliseconds meanwhile; NULL: nothing */
    void *arg;
};

/* Runs the members and returns when all have ended. The first failure of one, or of watch, ends all:
 * it is returned with its sentence, which says which member it was. */
psd_status psd_members_run(const struct psd_members_options *options);

#endif
