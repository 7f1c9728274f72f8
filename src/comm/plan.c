/* plan.c - a draft that is decided on, with reasons and totals. */
#include "comm/plan.h"
#include "base/alloc.h"
#include "base/status.h"
#include "comm/draft.h"

#include <math.h>
#include <string.h>

/* Why an open route is as it is: what would be worse if this parameter alone took the other. */
static const char *reason_of_choice(struct psd_draft *draft, size_t param)
{
    const struct psd_choice_score *ours = &draft->score;
    enum psd_route *routes = draft->spare;
    bool broadcast = draft->routes[param] == PSD_ROUTE_BROADCAST;

    memcpy(routes, draft->routes, draft->job->n_params * sizeof *routes);
    psd_choice_set(&draft->choice, param, broadcast ? PSD_ROUTE_ROW_SHARDED : PSD_ROUTE_BROADCAST,
                   routes);
    struct psd_choice_score other = psd_choice_score(&draft->choice, routes);
    if (other.ticks > ours->ticks)
        return "fastest";
    if (other.device_s > ours->device_s)
        return "as fast, less work";
    if (other.bytes > ours->bytes)
        return "as fast, fewer bytes";
    return other.memory > ours->memory ? "as fast, less memory" : "as fast as others";
}

static const char *reason_of(struct psd_draft *draft, size_t param)
{
    const struct psd_job *job = draft->job;

    if (psd_job_follows(job, param))
        return "as its weight";
    if (job->params[param].averaged)
        return "averaged";
    if (job->params[param].route != PSD_ROUTE_AUTO)
        return "asked for";
    if (job->ranks == 1)
        return "one process";
    return psd_job_is_factored(job, param) ? reason_of_choice(draft, param) : "dense";
}

static double compute_of(const struct psd_workload *workload)
{
    double seconds = 0;

    for (size_t i = 0; workload && i < workload->n_layers; i++)
        seconds += workload->layers[i].forward_s + workload->layers[i].backward_s;
    return seconds;
}

/* The costs of the chosen routes, with or without the norms that clipping needs. */
static void set_costs(struct psd_draft *draft, bool clips)
{
    draft->basis.clips = clips;
    for (size_t i = 0; i < draft->job->n_params; i++)
        draft->params[i].cost[draft->routes[i]] = psd_cost_of(&draft->basis, i, draft->routes[i]);
}

static double seconds_without_clipping(struct psd_draft *draft)
{
    set_costs(draft, false);
    double seconds = psd_predict_run(draft->predict, draft->params, draft->routes, -1);
    set_costs(draft, true);
    return seconds;
}

static void explain(struct psd_draft *draft, struct psd_plan *plan)
{
    for (size_t i = 0; i < draft->job->n_params; i++) {
        struct psd_plan_param *param = &plan->params[i];
        param->choice = draft->routes[i];
        param->reason = reason_of(draft, i);
        plan->bytes += param->cost[param->choice].up;
    }
    plan->compute_s = compute_of(draft->workload);
    plan->iteration_s = draft->score.seconds;
    plan->paper_s = psd_draft_paper(draft);
    if (draft->basis.clips)
        plan->clip_s = fmax(0, plan->iteration_s - seconds_without_clipping(draft));
}

/* How many sums members send under either hosting, and which one the job has. */
static psd_status measure_hostings(const struct psd_job *job, struct psd_plan *plan)
{
    size_t size = job->workers * sizeof *job->host;
    unsigned *host = psd_alloc(size);
    struct psd_hosting even, aligned, ours;

    if (!host)
        return PSD_ENOMEM;
    psd_hosting_aligned(job->ranks, job->workers, host);
    psd_status status = psd_hosting_measure(job, host, &aligned);
    plan->hosting = memcmp(host, job->host, size) == 0 ? "aligned" : "what members name";
    psd_hosting_even(job->ranks, job->workers, host);
    if (status == PSD_OK)
        status = psd_hosting_measure(job, host, &even);
    if (memcmp(host, job->host, size) == 0)
        plan->hosting = "even";
    if (status == PSD_OK)
        status = psd_hosting_measure(job, job->host, &ours);
    psd_alloc_free(host);
    if (status != PSD_OK)
        return status;
    plan->inputs_even = even.inputs;
    plan->inputs_aligned = aligned.inputs;
    plan->aligned = ours.most_inputs == 1;
    return PSD_OK;
}

static psd_status fill(struct psd_plan *plan, struct psd_draft *draft)
{
    PSD_TRY(measure_hostings(draft->job, plan));
    plan->params = draft->params;
    explain(draft, plan);
    draft->params = NULL; /* ours now */
    return PSD_OK;
}

/* Gives the job these routes, and in `routes` those that it had. */
static void exchange_routes(struct psd_job *job, enum psd_route *routes)
{
    for (size_t i = 0; i < job->n_params; i++) {
        enum psd_route before = job->params[i].route;
        job->params[i].route = routes[i];
        routes[i] = before;
    }
}

psd_status psd_plan_create(struct psd_job *job, const struct psd_workload *workload,
                           const struct psd_plan_network *network, struct psd_plan **out)
{
    struct psd_draft draft;
    PSD_TRY(psd_draft_init(&draft, job, workload, network));

    struct psd_plan *plan = psd_alloc_zero(1, sizeof *plan);
    psd_status status = plan ? fill(plan, &draft) : PSD_ENOMEM;
    if (status == PSD_OK)
        status = psd_plan_hostings(job, workload, network, &plan->even_s, &plan->aligned_s);
    if (status == PSD_OK) {
        exchange_routes(job, draft.routes);
        status = psd_plan_memory(job, &plan->memory);
        if (status != PSD_OK)
            exchange_routes(job, draft.routes);
    }
    psd_draft_fini(&draft);
    if (status == PSD_OK)
        *out = plan;
    else
        psd_plan_destroy(plan);
    return status;
}

void psd_plan_destroy(struct psd_plan *plan)
{
    if (!plan)
        return;
    psd_alloc_free(plan->params);
    psd_alloc_free(plan);
}

double psd_plan_speedup(const struct psd_job *job, const struct psd_plan *plan)
{
    return plan->compute_s > 0 ? job->workers * plan->compute_s / plan->iteration_s : 0;
}
