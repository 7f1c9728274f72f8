/* hosting.h - which rank computes which logical workers, and what that makes ranks send.
 *
 *     workers    0 1 2 3 4 5 6 7
 *     even       0 0 0 1 1 1 2 2       shares differ by one at most
 *     aligned    0 0 1 1 2 2 2 2       a whole subtree for each rank: one sum to send
 *
 * A rank adds the gradients of its workers along the fixed tree and sends the sums of the maximal
 * subtrees that it has (the inputs of merge.h). Even shares keep all devices equally busy; aligned
 * ones send fewer sums, but a rank may have up to twice the workers of another. No thread owns
 * anything here. */
#ifndef PSD_COMM_HOSTING_H
#define PSD_COMM_HOSTING_H

#include "comm/job.h"

/* What the costs of a job depend on. */
struct psd_hosting {
    unsigned inputs;       /* sums that all ranks together send of one dense gradient; */
    unsigned most_inputs;  /* of them by one rank */
    unsigned slots;        /* sums that the server of a piece holds at once, at most */
    unsigned hosts;        /* ranks that have workers; */
    unsigned most_workers; /* of them on one rank */
    size_t samples;        /* of the whole job in an iteration; */
    size_t most_samples;   /* of them on one rank */
};

/* Deals `workers` out to `ranks`, in order; both are at least 1, and `host` has a place for each worker.
 * With fewer workers than ranks the last ranks have none. Even shares are those of psd_job_create;
 * of aligned ones the largest is as small as whole subtrees can be. */
void psd_hosting_even(unsigned ranks, unsigned workers, unsigned *host);
void psd_hosting_aligned(unsigned ranks, unsigned workers, unsigned *host);

/* Measures the job as if `host` were its own. PSD_ENOMEM. */
psd_status psd_hosting_measure(const struct psd_job *job, const unsigned *host,
                               struct psd_hosting *out);

#endif
