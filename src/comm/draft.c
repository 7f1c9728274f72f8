/* draft.c - checks the question, then computes costs, then chooses. */
#include "comm/draft.h"
#include "base/alloc.h"
#include "base/status.h"

#include <math.h>

/* The part of the time by the paper's rule that makes no difference between two combinations. */
static const double fineness = 1e-4;

static psd_status check_network(const struct psd_plan_network *network)
{
    if (!isfinite(network->bandwidth) || network->bandwidth <= 0)
        return psd_fail(PSD_EINVAL,
                        "a bandwidth of %g bytes a second: it is a finite number above 0",
                        network->bandwidth);
    if (!isfinite(network->latency) || network->latency < 0)
        return psd_fail(PSD_EINVAL, "a latency of %g s: it is a finite number from 0 on",
                        network->latency);
    return PSD_OK;
}

static psd_status check_workload(const struct psd_job *job, const struct psd_workload *workload)
{
    if (workload->n_params != job->n_params)
        return psd_fail(PSD_EINVAL, "the workload has %zu parameters and the job has %zu",
                        workload->n_params, job->n_params);
    for (size_t i = 0; i < job->n_params; i++) {
        const struct psd_workload_param *theirs = &workload->params[i];
        const struct psd_job_param *ours = &job->params[i];
        if (theirs->rows != ours->rows || theirs->cols != ours->cols)
            return psd_fail(PSD_EINVAL, "%s: %zu x %zu in the job is %zu x %zu in the workload",
                            ours->name, ours->rows, ours->cols, theirs->rows, theirs->cols);
    }
    return PSD_OK;
}

/* With one process any route of the form will do. */
static psd_status check_route(const struct psd_job *job, size_t param)
{
    const struct psd_job_param *one = &job->params[param];
    bool dense = !psd_job_is_factored(job, param);

    if (one->route == PSD_ROUTE_AUTO)
        return PSD_OK;
    if ((one->route == PSD_ROUTE_SERVERS) != dense)
        return psd_fail(PSD_EINVAL, "%s: its form is %s, and its route is one for another form",
                        one->name, dense ? "dense" : "factored");
    if (one->route == PSD_ROUTE_LOCAL && job->ranks > 1)
        return psd_fail(PSD_EINVAL, "%s: the local route is for one process, and there are %u",
                        one->name, job->ranks);
    return PSD_OK;
}

static psd_status allocate(struct psd_draft *draft)
{
    size_t n = draft->job->n_params;

    draft->params = psd_alloc_zero(n, sizeof *draft->params);
    draft->routes = psd_alloc_zero(n, sizeof *draft->routes);
    draft->spare = psd_alloc_zero(n, sizeof *draft->spare);
    draft->leader = psd_alloc_zero(n, sizeof *draft->leader);
    draft->open = psd_alloc_zero(n, sizeof *draft->open);
    if (!draft->params || !draft->routes || !draft->spare || !draft->leader || !draft->open)
        return PSD_ENOMEM;
    return psd_predict_create(
        &(struct psd_predict_options){.job = draft->job,
                                      .workload = draft->workload,
                                      .times = draft->basis.hosting.most_workers,
                                      .bandwidth = draft->network->bandwidth},
        &draft->predict);
}

/* A weight stands before its bias. */
static enum psd_route paper_route(const struct psd_draft *draft, size_t param)
{
    const struct psd_job *job = draft->job;
    const struct psd_job_param *one = &job->params[param];
    double hosts = draft->basis.hosting.hosts, ranks = job->ranks;
    double batch = (double)draft->basis.hosting.samples / hosts;

    if (one->bias_of >= 0)
        return draft->params[one->bias_of].paper;
    if (job->ranks == 1)
        return psd_job_is_factored(job, param) ? PSD_ROUTE_LOCAL : PSD_ROUTE_SERVERS;
    return one->factors && psd_plan_paper((double)one->rows, (double)one->cols, batch, hosts, ranks)
               ? PSD_ROUTE_BROADCAST
               : PSD_ROUTE_SERVERS;
}

/* The route of a parameter, or AUTO when there are several. */
static enum psd_route given_route(const struct psd_job *job, size_t param)
{
    if (job->params[param].route != PSD_ROUTE_AUTO)
        return job->params[param].route;
    if (!psd_job_is_factored(job, param))
        return PSD_ROUTE_SERVERS;
    return job->ranks == 1 ? PSD_ROUTE_LOCAL : PSD_ROUTE_AUTO;
}

static void fill(struct psd_draft *draft, size_t param)
{
    bool follows = psd_job_follows(draft->job, param);
    size_t leader = follows ? (size_t)draft->job->params[param].bias_of : param;

    for (enum psd_route route = PSD_ROUTE_SERVERS; route <= PSD_ROUTE_SINGLE_OWNER; route++)
        draft->params[param].cost[route] = psd_cost_of(&draft->basis, param, route);
    draft->params[param].paper = paper_route(draft, param);
    draft->leader[param] = leader;
    draft->routes[param] = given_route(draft->job, leader);
    if (!follows && draft->routes[param] == PSD_ROUTE_AUTO)
        draft->open[draft->choice.n_open++] = param;
}

static void choose(struct psd_draft *draft)
{
    draft->choice.predict = draft->predict;
    draft->choice.params = draft->params;
    draft->choice.n_params = draft->job->n_params;
    draft->choice.leader = draft->leader;
    draft->choice.open = draft->open;
    draft->choice.spare = draft->spare;
    draft->choice.clip_s = draft->basis.clips ? 2 * draft->network->latency : -1;
    draft->choice.grain = fineness * psd_draft_paper(draft);
    psd_choice_make(&draft->choice, draft->routes);
    draft->score = psd_choice_score(&draft->choice, draft->routes);
}

static psd_status check(const struct psd_draft *draft)
{
    PSD_TRY(check_network(draft->network));
    if (draft->workload)
        PSD_TRY(check_workload(draft->job, draft->workload));
    for (size_t i = 0; i < draft->job->n_params; i++)
        PSD_TRY(check_route(draft->job, i));
    return PSD_OK;
}

psd_status psd_draft_init(struct psd_draft *draft, const struct psd_job *job,
                          const struct psd_workload *workload,
                          const struct psd_plan_network *network)
{
    if (workload && workload->n_layers == 0)
        workload = NULL;
    *draft = (struct psd_draft){.job = job, .workload = workload, .network = network};
    PSD_TRY(check(draft));
    PSD_TRY(psd_cost_init(job, workload, network, &draft->basis));
    psd_status status = allocate(draft);
    if (status != PSD_OK) {
        psd_draft_fini(draft);
        return status;
    }
    for (size_t i = 0; i < job->n_params; i++)
        fill(draft, i);
    choose(draft);
    return PSD_OK;
}

void psd_draft_fini(struct psd_draft *draft)
{
    psd_predict_destroy(draft->predict);
    psd_alloc_free(draft->open);
    psd_alloc_free(draft->leader);
    psd_alloc_free(draft->spare);
    psd_alloc_free(draft->routes);
    psd_alloc_free(draft->params);
}

double psd_draft_paper(struct psd_draft *draft)
{
    for (size_t i = 0; i < draft->job->n_params; i++)
        draft->spare[i] = draft->params[i].paper;
    return psd_predict_run(draft->predict, draft->params, draft->spare, draft->choice.clip_s);
}
