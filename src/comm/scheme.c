/* scheme.c - each scheme as wishes for forms and routes. */
#include "comm/scheme.h"
#include "base/alloc.h"
#include "base/status.h"
#include "comm/workload_job.h"

const char *const psd_scheme_names[] = {
    [PSD_SCHEME_SERVERS_NO_OVERLAP] = "servers-no-overlap",
    [PSD_SCHEME_SERVERS] = "servers",
    [PSD_SCHEME_HYBRID_BYTES] = "hybrid-bytes",
    [PSD_SCHEME_HYBRID] = "hybrid",
    [PSD_SCHEME_SINGLE_OWNER] = "single-owner",
    NULL,
};

bool psd_scheme_overlaps(enum psd_scheme scheme)
{
    return scheme != PSD_SCHEME_SERVERS_NO_OVERLAP;
}

static enum psd_form form_of(enum psd_scheme scheme, const struct psd_workload_param *param)
{
    switch (scheme) {
    case PSD_SCHEME_SERVERS_NO_OVERLAP:
    case PSD_SCHEME_SERVERS:
        return PSD_FORM_DENSE;
    case PSD_SCHEME_SINGLE_OWNER:
        return param->factors ? PSD_FORM_FACTORED : PSD_FORM_AUTO;
    default:
        return PSD_FORM_AUTO;
    }
}

/* What a scheme other than hybrid does with a factored parameter. */
static enum psd_route route_of(enum psd_scheme scheme, const struct psd_job *job)
{
    if (job->ranks == 1)
        return PSD_ROUTE_LOCAL;
    return scheme == PSD_SCHEME_SINGLE_OWNER ? PSD_ROUTE_SINGLE_OWNER : PSD_ROUTE_BROADCAST;
}

static psd_status choose(enum psd_scheme scheme, const struct psd_workload *workload,
                         const struct psd_plan_network *network, struct psd_job *job)
{
    struct psd_plan *plan = NULL;

    psd_plan_forms(job);
    for (size_t i = 0; scheme != PSD_SCHEME_HYBRID && i < job->n_params; i++)
        job->params[i].route =
            psd_job_is_factored(job, i) ? route_of(scheme, job) : PSD_ROUTE_SERVERS;
    PSD_TRY(psd_plan_create(job, workload, network, &plan));
    psd_plan_destroy(plan);
    return PSD_OK;
}

psd_status psd_scheme_job(enum psd_scheme scheme, const struct psd_workload *workload,
                          unsigned ranks, const struct psd_plan_network *network,
                          struct psd_job **out)
{
    static const struct psd_comm_update update = {.momentum = 0.9f};
    struct psd_job *job = NULL;
    struct psd_workload_wish *wishes = psd_alloc_zero(workload->n_params, sizeof *wishes);

    if (!wishes)
        return PSD_ENOMEM;
    for (size_t i = 0; i < workload->n_params; i++)
        wishes[i].form = form_of(scheme, &workload->params[i]);
    psd_status status = psd_workload_job_create(workload, ranks, ranks, &update, wishes, &job);
    psd_alloc_free(wishes);
    if (status == PSD_OK)
        status = choose(scheme, workload, network, job);
    if (status == PSD_OK)
        *out = job;
    else
        psd_job_destroy(job);
    return status;
}
