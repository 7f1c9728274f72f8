/* plan_hosting.c - even shares or whole subtrees: both are drafted, and the faster one is taken.
 *
 * The device of the largest share decides how long compute takes, and the rank with the most sums
 * how long pushes take; the draft knows both. */
#include "base/alloc.h"
#include "base/status.h"
#include "comm/draft.h"

#include <string.h>

static const double enough = 0.9999; /* of the time of even shares: then it is worth while */

/* Seconds of an iteration when `host` is the job's. */
static psd_status predict(struct psd_job *job, unsigned *host, const struct psd_workload *workload,
                          const struct psd_plan_network *network, double *seconds)
{
    unsigned *before = job->host;
    struct psd_draft draft;

    job->host = host;
    psd_status status = psd_draft_init(&draft, job, workload, network);
    job->host = before;
    if (status != PSD_OK)
        return status;
    *seconds = draft.score.seconds;
    psd_draft_fini(&draft);
    return PSD_OK;
}

/* Puts the faster of the two into `even`. */
static psd_status compare(struct psd_job *job, unsigned *even, unsigned *aligned,
                          const struct psd_workload *workload,
                          const struct psd_plan_network *network)
{
    size_t size = job->workers * sizeof *even;
    double even_s = 0, aligned_s = 0;

    psd_hosting_even(job->ranks, job->workers, even);
    psd_hosting_aligned(job->ranks, job->workers, aligned);
    if (!workload || memcmp(even, aligned, size) == 0)
        return PSD_OK;
    PSD_TRY(predict(job, even, workload, network, &even_s));
    PSD_TRY(predict(job, aligned, workload, network, &aligned_s));
    if (aligned_s < even_s * enough)
        memcpy(even, aligned, size);
    return PSD_OK;
}

psd_status psd_plan_hosting(struct psd_job *job, const struct psd_workload *workload,
                            const struct psd_plan_network *network)
{
    unsigned *even = psd_alloc_zero(job->workers, sizeof *even);
    unsigned *aligned = psd_alloc_zero(job->workers, sizeof *aligned);
    psd_status status =
        even && aligned ? compare(job, even, aligned, workload, network) : PSD_ENOMEM;

    if (status == PSD_OK)
        memcpy(job->host, even, job->workers * sizeof *even);
    psd_alloc_free(aligned);
    psd_alloc_free(even);
    return status;
}
