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

/* The two ways to deal workers out. */
struct hostings {
    unsigned *even, *aligned; /* owned; [workers] */
    bool differ;
};

static psd_status init(struct hostings *hostings, const struct psd_job *job)
{
    hostings->even = psd_alloc_zero(job->workers, sizeof *hostings->even);
    hostings->aligned = psd_alloc_zero(job->workers, sizeof *hostings->aligned);
    if (!hostings->even || !hostings->aligned)
        return PSD_ENOMEM;
    psd_hosting_even(job->ranks, job->workers, hostings->even);
    psd_hosting_aligned(job->ranks, job->workers, hostings->aligned);
    hostings->differ =
        memcmp(hostings->even, hostings->aligned, job->workers * sizeof *hostings->even) != 0;
    return PSD_OK;
}

static void fini(struct hostings *hostings)
{
    psd_alloc_free(hostings->aligned);
    psd_alloc_free(hostings->even);
}

static psd_status predict_both(struct psd_job *job, const struct hostings *hostings,
                               const struct psd_workload *workload,
                               const struct psd_plan_network *network, double *even_s,
                               double *aligned_s)
{
    *even_s = *aligned_s = 0;
    if (!hostings->differ)
        return PSD_OK;
    PSD_TRY(predict(job, hostings->even, workload, network, even_s));
    return predict(job, hostings->aligned, workload, network, aligned_s);
}

psd_status psd_plan_hostings(struct psd_job *job, const struct psd_workload *workload,
                             const struct psd_plan_network *network, double *even_s,
                             double *aligned_s)
{
    struct hostings hostings;
    psd_status status = init(&hostings, job);

    if (status == PSD_OK)
        status = predict_both(job, &hostings, workload, network, even_s, aligned_s);
    fini(&hostings);
    return status;
}

psd_status psd_plan_hosting(struct psd_job *job, const struct psd_workload *workload,
                            const struct psd_plan_network *network)
{
    double even_s = 0, aligned_s = 0;
    struct hostings hostings;
    psd_status status = init(&hostings, job);

    if (status == PSD_OK && workload)
        status = predict_both(job, &hostings, workload, network, &even_s, &aligned_s);
    if (status == PSD_OK)
        memcpy(job->host, aligned_s < even_s * enough ? hostings.aligned : hostings.even,
               job->workers * sizeof *job->host);
    fini(&hostings);
    return status;
}
